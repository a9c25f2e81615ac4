"""The Hong Kong exchange's site."""
