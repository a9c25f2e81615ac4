"""Companies in Hong Kong, and the A/H premium."""
