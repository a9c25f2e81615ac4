"""Requirements of an upload, also of retired routes."""

from collections.abc import Sequence
from pathlib import PurePath

from fastapi import UploadFile

from serving_api.framework.error_responses import BadRequest

MAX_BYTES = 50 * 1024 * 1024
ROOM = 64 * 1024
"""Bytes of a form besides its file."""
EXTENSIONS = (".xls", ".xlsx", ".csv", ".tsv", ".txt")


async def check_upload(
    file: UploadFile, *, may_be_empty: bool, extensions: Sequence[str] = EXTENSIONS
) -> None:
    """Raises BadRequest that names the violated rule: extension, size, emptiness."""
    extension = PurePath(file.filename or "").suffix.lower()
    if extension not in extensions:
        raise BadRequest(
            f"file: extension {extension[:20] or '(none)'} is not one of {', '.join(extensions)}"
        )
    size = file.size if file.size is not None else len(await file.read(MAX_BYTES + 1))
    if size > MAX_BYTES:
        raise BadRequest("file: larger than 50 MB")
    if size == 0 and not may_be_empty:
        raise BadRequest("file: is empty")
