"""The current market as a picture to share."""
