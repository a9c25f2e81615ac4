"""What became of picks, behind every answer that tells it."""
