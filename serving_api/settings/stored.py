"""Documents of /settings in `sys_config`: JSON texts by key; secret ones are sealed and never returned."""

import json
from collections.abc import Callable
from typing import Any

from core.clock import stamp
from core.errors import PlatformError
from resources.secret_files import SecretBox, settings_box
from resources.warehouse.engine import transaction
from serving_api.admin.config import put, stored_entries, values_to_change
from serving_api.db.sessions import Session
from serving_api.framework.state import State
from serving_api.framework.threads import off_loop

GROUP = "settings"
Document = dict[str, Any]
Change = Callable[[dict[str, Document]], dict[str, Document]]
"""Stored documents by key -> the documents to store. Runs inside the write transaction."""


class StoredDocuments:
    """Reads and changes of a few keys. `secret`: the keys whose documents are sealed."""

    def __init__(self, state: State, plain: tuple[str, ...], secret: tuple[str, ...] = ()) -> None:
        self._state = state
        self._keys = (*plain, *secret)
        self._secret = frozenset(secret)
        self._box: SecretBox = settings_box(state.settings.data_path)

    async def read(self) -> dict[str, Document]:
        """Documents by key; {} for one that was never stored. Raises StorageError, PlatformError (another
        key)."""
        rows = await self._state.reading.scan(_chosen, self._keys)
        return await off_loop(self._opened, rows)

    async def change(self, change: Change, by: str) -> dict[str, Document]:
        """Replace all keys by the result of `change`, which gets the stored documents: of two concurrent
        changes none is lost."""
        return await off_loop(self._changed, change, by)

    def _changed(self, change: Change, by: str) -> dict[str, Document]:
        writer = self._state.writer
        with transaction(writer.engine) as connection:
            before = self._opened(values_to_change(connection, writer.sql, self._keys))
            after = change({key: dict(document) for key, document in before.items()})
            now = stamp(self._state.system.local())
            for key, document in after.items():
                if document != before[key]:
                    put(connection, writer.sql, key, self._row(key, document, by), now)
        return after

    def _row(self, key: str, document: Document, by: str) -> dict[str, Any]:
        text = json.dumps(document, ensure_ascii=False, sort_keys=True)
        secret = key in self._secret
        return {
            "value": self._box.seal(text) if secret else text,
            "value_type": "json",
            "group_name": GROUP,
            "is_secret": int(secret),
            "default_value": "",
            "note": "",
            "updated_by": by,
        }

    def _opened(self, rows: dict[str, str]) -> dict[str, Document]:
        return {key: self._document(key, rows.get(key)) for key in self._keys}

    def _document(self, key: str, text: str | None) -> Document:
        if not text:
            return {}
        plain = self._box.unseal(text) if key in self._secret else text
        try:
            loaded = json.loads(plain)
        except ValueError as error:
            raise PlatformError(f"the stored settings of {key} cannot be read") from error
        return loaded if isinstance(loaded, dict) else {}


def _chosen(session: Session, keys: tuple[str, ...]) -> dict[str, str]:
    rows = stored_entries(session)
    return {key: str(rows[key]["value"]) for key in keys if key in rows and rows[key]["value"] is not None}
