"""/notifications: what the platform tells the people who use it."""
