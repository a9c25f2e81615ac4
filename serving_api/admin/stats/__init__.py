"""How much is stored, and how fresh it is."""
