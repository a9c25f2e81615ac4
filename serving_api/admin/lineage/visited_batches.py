"""The batches that a lineage request visits, and their responses: those of a batch itself, of its parent, and
those that an earlier load of the same run had already received."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from resources.redact import redact
from serving_api.admin.batches import by_ids
from serving_api.admin.lineage import queries
from serving_api.admin.lineage.bodies import Bodies, shown
from serving_api.admin.shared import parse_json
from serving_api.db.sessions import Session
from serving_api.framework.envelope import instant

MAX_RESPONSES = 20
"""Responses shown per batch in one answer."""
_GENERIC = 300
"""Responses of a batch whose bodies may be searched when their request names no code."""
_CODE = re.compile(r"(?<![0-9])[0-9]{6}(?![0-9])")


@dataclass
class VisitedBatches:
    """The visited batches in order, and their responses."""

    session: Session
    bodies: Bodies
    word: str | None
    """Text that a response must contain: the code of the row; None when the key has no code."""
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)

    def visit(self, ids: Iterable[str | None]) -> list[dict[str, Any]]:
        """The batches of `ids`, each followed by its parent; unknown ids are left out."""
        asked = list(dict.fromkeys(one for one in ids if one))
        missing = [one for one in asked if one not in self.batches]
        read = by_ids(self.session, missing)
        parents = {row["parent_batch_id"] for row in read.values() if row["parent_batch_id"]}
        known = {**by_ids(self.session, sorted(parents - self.batches.keys())), **read}
        for one in missing:
            for name in (one, known.get(one, {}).get("parent_batch_id")):
                if name in known and name not in self.batches:
                    self.batches[name] = known[name]
        return [self.batches[one] for one in asked if one in self.batches]

    def look_up(self, batch_id: str) -> dict[str, Any] | None:
        """A batch, without marking it as visited."""
        return self.batches.get(batch_id) or by_ids(self.session, [batch_id]).get(batch_id)

    def inputs(self, batch: Mapping[str, Any], table: str) -> list[str]:
        """Batches of `table` whose rows a batch read (at most 50 are recorded)."""
        return [
            str(one)
            for item in parse_json(batch["inputs_json"], [])
            if item.get("table") == table
            for one in item.get("batch_ids") or []
        ]

    def newest_read(self, batch: Mapping[str, Any], table: str) -> str | None:
        """The newest date of `table` that a batch read."""
        inputs = [item for item in parse_json(batch["inputs_json"], []) if item.get("table") == table]
        return max((str(item["max_date"]) for item in inputs if item.get("max_date")), default=None)

    def responses(self, batch_id: str, sources: Sequence[str]) -> list[dict[str, Any]]:
        """Responses behind a batch, of the given sources, that concern the row: by their request, or
        (requests that name no code at all: lists, whole-market pages) by their body."""
        own = self.visit([batch_id])
        if not own:
            return []
        family = [own[0], *(self.batches[p] for p in [own[0]["parent_batch_id"]] if p in self.batches)]
        ids = [row["batch_id"] for row in family]
        reused = [
            str(one)
            for row in family
            for item in parse_json(row["sources_json"], [])
            if not sources or item.get("src") in sources
            for one in item.get("fetch_ids") or []
        ]
        found = self._naming(ids, reused, sources)
        # A staged source may combine several upstreams (an exchange); then its name is none of theirs.
        return found or (self._naming(ids, reused, ()) if sources else [])

    def _naming(
        self, ids: Sequence[str], reused: Sequence[str], upstreams: Sequence[str]
    ) -> list[dict[str, Any]]:
        session, word = self.session, self.word
        if word is None:
            return queries.responses(session, ids, reused, upstreams, naming=None, limit=MAX_RESPONSES)
        named = queries.responses(session, ids, reused, upstreams, naming=word, limit=MAX_RESPONSES)
        others = queries.responses(session, ids, reused, upstreams, naming=None, limit=_GENERIC)
        generic = [
            row
            for row in others
            if not _CODE.search(queries.asked_text(row)) and self.bodies.names(row["body_path"], word)
        ]
        return [*named, *generic][:MAX_RESPONSES]

    def fetch_view(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """A response without its file path."""
        return {
            "id": row["fetch_id"], "upstream": row["upstream"], "call": row["call_name"],
            "status": row["http_status"], "outcome": row["outcome"], "bytes": row["byte_count"],
            "sha256": row["sha256"], "request": redact(row["request"] or ""),
            "received_at": instant(row["received_at"]),
        }  # fmt: skip

    def payload(self, row: Mapping[str, Any]) -> dict[str, Any] | None:
        """The body as text or base64; None when it is no longer stored."""
        body = self.bodies.get(row["body_path"])
        return None if body is None else shown(body)
