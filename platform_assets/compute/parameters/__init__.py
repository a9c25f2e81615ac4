"""Every threshold of the calculations, one module per field: the one place to look one up or to change it.

A value that the specification fixes says so next to it. All others are ours, and
the pages below `docs/calculations/` mark them `ours`.
"""
