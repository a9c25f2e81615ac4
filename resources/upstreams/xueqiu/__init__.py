"""The social site: quotes and popularity, behind the token that any visitor gets."""
