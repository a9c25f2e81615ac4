"""The leader score of the limit-ups and their outcome."""
