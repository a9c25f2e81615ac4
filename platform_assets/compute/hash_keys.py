"""Short keys of texts that are part of a row's identity (column word `K16`)."""

import hashlib
import unicodedata


def hash_key(*parts: str) -> str:
    """16 hex digits of the SHA-1 of the parts, joined by `|`. Full-width letters, brackets and blanks make no
    difference: sources write one text in several ways."""
    plain = "|".join("".join(unicodedata.normalize("NFKC", part).split()) for part in parts)
    return hashlib.sha1(plain.encode()).hexdigest()[:16]  # noqa: S324  a row key, no secret
