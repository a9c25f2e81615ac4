"""The social site: responders for the visitor's token, quotes and the hot list."""
