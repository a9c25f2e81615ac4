"""Whether the upstreams answer: eighteen small questions, asked side by side."""
