"""The administrators' side of the data: counts, freshness, lineage, batches, schedule, settings, commands."""
