"""One file per data type of the unified read, each with a `DATA_TYPE`."""
