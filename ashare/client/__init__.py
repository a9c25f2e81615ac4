"""One interface to a platform's data, whether it is a folder, a lake or an API."""
