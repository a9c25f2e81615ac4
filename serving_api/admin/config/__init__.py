"""Settings that are stored in the database."""
