"""Single datasets fetched anew because somebody asked."""
