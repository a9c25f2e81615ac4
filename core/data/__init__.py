"""Tables that come with the project."""
