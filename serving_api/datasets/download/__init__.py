"""Downloads requested by an administrator."""
