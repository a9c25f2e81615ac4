"""SW, the industry classification, and its indices."""
