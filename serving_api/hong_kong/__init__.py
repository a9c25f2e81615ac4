"""Companies in Hong Kong, and the premium of shares at home over them."""
