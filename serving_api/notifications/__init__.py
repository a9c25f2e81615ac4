"""/notifications: messages of the platform to its users."""
