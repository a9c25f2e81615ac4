"""The six futures exchanges' own sites: one client, bound to one of them."""
