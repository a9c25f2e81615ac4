"""ASGI middleware, outermost first: known answers, request context, rate limit, response cache with
compression."""
