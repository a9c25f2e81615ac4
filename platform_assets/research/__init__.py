"""What research asks of the stored tables: which there are, what their columns mean, which rows. Used by the
API and by the client; it imports neither."""
