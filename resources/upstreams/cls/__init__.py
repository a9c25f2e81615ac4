"""The telegraph: flash news around the clock."""
