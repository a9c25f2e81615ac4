"""Local accounts: registration, login, profile, tokens, lockout."""
