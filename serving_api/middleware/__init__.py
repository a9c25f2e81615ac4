"""Pure ASGI layers, outermost first: request context, rate limit, hot reads and compression."""
