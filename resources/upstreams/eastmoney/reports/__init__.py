"""The portal's data centre: reports that are told apart by their name."""
