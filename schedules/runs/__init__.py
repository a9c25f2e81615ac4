"""Dagster runs in processes of their own."""
