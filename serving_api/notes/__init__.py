"""Notes of the day: readable by anyone, requested by administrators, written by the platform."""
