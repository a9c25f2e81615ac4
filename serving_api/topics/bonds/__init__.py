"""Convertible bonds."""
