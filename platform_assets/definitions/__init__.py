"""Dagster's side: assets, jobs, partitions, resources, and the code location that puts them together."""
