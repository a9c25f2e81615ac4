"""The market of the moment as a picture to post."""
