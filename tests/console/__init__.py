"""The console in a headless browser."""
