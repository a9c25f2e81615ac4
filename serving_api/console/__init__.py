"""The web console at /console: pages that read the public API and nothing else."""
