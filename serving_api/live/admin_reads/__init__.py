"""Live reads below /datamgr: requested from upstreams, never stored."""
