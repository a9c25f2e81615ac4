"""Administration of datasets over HTTP: fused tables, downloads, syncs, stock base, portfolio."""
