"""The six futures exchanges' own sites."""
