"""Downloads that an administrator asks for."""
