"""A server of the terminal (`tdx`) that answers from a world."""
