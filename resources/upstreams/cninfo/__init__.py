"""The disclosure platform of the listed companies."""
