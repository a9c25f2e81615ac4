"""The catalog of read-only interfaces: what they are called, what they take, how each kind is answered."""
