"""The command queue's worker and what it can carry out."""
