"""Backup and restore of an installation: warehouse, Dagster's history, secrets and files.

`making.backup` and `restoring.restore` are the two entry points; `ashare backup` and `ashare restore` call
them.
"""
