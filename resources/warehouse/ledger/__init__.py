"""What the scheduler side and the API share through the database, without Dagster: the task table, the
ledger of scheduled runs, the command queue and the heartbeats. Times of claims and leases are seconds of the
database's clock; what is due is decided by the market clock of the caller."""
