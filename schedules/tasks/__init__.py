"""The task table, its native schedules, the sensors, and the reconciliation of scheduled runs."""
