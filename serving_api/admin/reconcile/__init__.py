"""How far independent sources agree, measured every day."""
