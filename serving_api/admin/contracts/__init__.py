"""What each dataset promises, and whether it keeps it."""
