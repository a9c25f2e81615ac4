"""/settings: mail server, model providers, menu; stored in the database, secrets sealed."""
