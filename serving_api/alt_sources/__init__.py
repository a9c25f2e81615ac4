"""Alternative sources: what lies beside the tables, and whether it can be had at all."""
