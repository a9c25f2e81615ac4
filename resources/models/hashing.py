"""A prompt's hash, for the receipt of an answer."""

import hashlib
import json
from dataclasses import asdict

from resources.models.protocol import Prompt


def prompt_hash(prompt: Prompt) -> str:
    """SHA-256 of everything that the model was sent, in hexadecimal."""
    text = json.dumps(asdict(prompt), ensure_ascii=False, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
