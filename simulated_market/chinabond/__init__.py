"""The bond depository's site."""
