"""The market now: one step chain for every data type that is read while a session runs."""
