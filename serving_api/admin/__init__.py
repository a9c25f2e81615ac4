"""Administration of the data: counts, freshness, lineage, batches, schedule, settings, commands."""
