"""Several machines: step workers over a broker, the topology, and days with kills in them."""
