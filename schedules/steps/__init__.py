"""The steps of Dagster runs: in its own process, or by step workers on several machines (BROKER_URL)."""
