"""ASGI middleware, outermost first: request context, rate limit, response cache with compression."""
