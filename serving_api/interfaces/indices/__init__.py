"""Members of indices and industries."""
