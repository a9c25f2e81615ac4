"""Whether the upstreams answer: eighteen small requests, sent in parallel."""
