"""How far independent sources agree, as it is measured every day."""
