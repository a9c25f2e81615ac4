"""Notes of the day: read by anyone, asked for by administrators, written by the platform."""
