"""Lists what is empty in an installation: tables, freshness dimensions, interfaces and read routes,
checked from outside. `python -m serving_api.inspection` asks the running API."""
