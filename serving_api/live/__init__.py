"""Current market data: one chain of steps for every data type that is read during a session."""
