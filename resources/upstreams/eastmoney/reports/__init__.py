"""The portal's data centre: reports that are distinguished by their name."""
