"""Single datasets fetched again on request."""
