"""Reads of single topics: risk, bonds, funds, futures, indices, macro and their like. Plain answers."""
