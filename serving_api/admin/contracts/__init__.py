"""The declared properties of each dataset, and whether its loads meet them."""
