"""The task table, its switches and its runs."""
