"""ASGI middleware, outermost first: request context, rate limit; then the console's session, compression."""
