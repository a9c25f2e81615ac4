"""Live reads of the datamgr area: asked of the upstreams, never stored."""
