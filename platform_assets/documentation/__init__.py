"""The derived parts of the documentation, written from the code."""
