"""Avatar images: identified by their first bytes, limited in size, stored under the data folder; no URL is
fetched."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from serving_api.framework.error_responses import BadRequest

MAX_BYTES = 2 * 1024 * 1024
MEDIA_TYPES = {"png": "image/png", "jpg": "image/jpeg", "webp": "image/webp"}


def sniff(content: bytes) -> str | None:
    """png, jpg or webp by content; None for anything else."""
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if content.startswith(b"\xff\xd8\xff"):
        return "jpg"
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "webp"
    return None


def check(content: bytes) -> str:
    """The image's kind. Raises BadRequest naming the rule broken."""
    if len(content) > MAX_BYTES:
        raise BadRequest("file: larger than 2 MB")
    kind = sniff(content)
    if kind is None:
        raise BadRequest("file: png, jpg or webp images are allowed, judged by their content")
    return kind


@dataclass(frozen=True)
class AvatarStore:
    """One image per user: `<user id>.<kind>`."""

    folder: Path

    def put(self, user_id: int, content: bytes) -> str:
        """Store a checked image; returns a version mark that changes with the content."""
        kind = check(content)
        self.folder.mkdir(parents=True, exist_ok=True)
        aside = self.folder / f"{user_id}.part"
        aside.write_bytes(content)
        aside.replace(self.folder / f"{user_id}.{kind}")
        for other in MEDIA_TYPES.keys() - {kind}:
            (self.folder / f"{user_id}.{other}").unlink(missing_ok=True)
        return hashlib.blake2b(content, digest_size=6).hexdigest()

    def get(self, user_id: int) -> tuple[bytes, str] | None:
        """(content, media type), or None when there is no image."""
        for kind, media_type in MEDIA_TYPES.items():
            path = self.folder / f"{user_id}.{kind}"
            if path.is_file():
                return path.read_bytes(), media_type
        return None
