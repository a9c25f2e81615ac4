"""The Hong Kong exchange's site: daily statistics of the stock connect."""
