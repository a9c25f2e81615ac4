"""The catalog of read-only interfaces: their names and parameters, and the implementation of each
template."""
