"""Boards of the portal: industries, concepts, regions."""
