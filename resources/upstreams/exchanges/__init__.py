"""The three exchanges' own sites: one client each, one breaker for all."""
