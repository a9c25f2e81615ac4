"""Files of users: read, checked, and loaded through the same layers as the answers of upstreams."""
