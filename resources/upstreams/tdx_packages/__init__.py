"""Files of the terminal's publisher: what it offers for download, and what an installation keeps on disk.

The readers take bytes and return numpy arrays (`arrays.Arrays`), or raise PayloadError that says what is
wrong with the file. Little-endian; prices CNY or points, amounts CNY, volumes shares, dates YYYYMMDD as
integers.
"""
