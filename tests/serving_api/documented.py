"""Answers of a running platform held against its OpenAPI document, and an example of each for the document.

`python -m tests.serving_api.documented` starts the sample market on an empty folder, walks every route and
writes the examples (some minutes).
"""

import re
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import orjson

from serving_api.framework.openapi import EXAMPLES
from serving_api.inspection.walk import Ask, holds_data

MOST_ITEMS = 2
"""Items of a list in an example."""
MOST_TEXT = 400
"""Characters of a text in an example."""


class Documented:
    """An `Ask` that notes what the document denies of an answer, and the first answer with data."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self.denied: dict[str, str] = {}
        """Operation -> what is wrong with an answer of it."""
        self.examples: dict[str, Any] = {}
        """Operation -> an answer with short lists."""
        _, self._document = ask("GET", "/openapi.json", {}, None)
        self._paths = [
            (re.compile(re.sub(r"\{[^}]*\}", "[^/]+", path) + "$"), methods["get"])
            for path, methods in sorted(self._document["paths"].items(), key=lambda item: "{" in item[0])
            if "get" in methods
        ]
        self._error = cache(self._validator)

    def __call__(self, method: str, path: str, query: Mapping[str, str], body: Any) -> tuple[int, Any]:
        status, answer = self._ask(method, path, query, body)
        if method == "GET" and status == 200 and answer is not None:
            operation = next((found for pattern, found in self._paths if pattern.match(path)), None)
            if operation is not None:
                self._note(operation, answer)
        return status, answer

    def _note(self, operation: Mapping[str, Any], answer: Any) -> None:
        name = operation["operationId"]
        error = next(self._error(name).iter_errors(answer), None)
        if error is not None:
            self.denied.setdefault(name, f"{'/'.join(map(str, error.instance_path))}: {error.message}"[:300])
        echoed = [one["name"] for one in operation.get("parameters", [])]
        if name not in self.examples and holds_data(answer, echoed):
            self.examples[name] = shortened(answer)

    def _validator(self, name: str) -> jsonschema_rs.Validator:
        return validator_of(self._document, name)


def validator_of(document: Mapping[str, Any], name: str) -> jsonschema_rs.Validator:
    """Checks 200 answers of an operation, formats included."""
    operation = next(
        found
        for methods in document["paths"].values()
        for found in methods.values()
        if found["operationId"] == name
    )
    content = operation["responses"]["200"].get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    whole = {**schema, "components": document["components"]}
    return jsonschema_rs.Draft202012Validator(whole, validate_formats=True)


def shortened(value: Any) -> Any:
    """An answer whose lists have few items; a map of many keys keeps as few where they are codes or dates."""
    if isinstance(value, dict):
        keys = list(value)
        if len(keys) > MOST_ITEMS and all(key[:1].isdigit() for key in keys):
            keys = keys[:MOST_ITEMS]
        return {key: shortened(value[key]) for key in keys}
    if isinstance(value, list):
        return [shortened(item) for item in value[:MOST_ITEMS]]
    if isinstance(value, str) and len(value) > MOST_TEXT:
        return value[: MOST_TEXT - 1] + "…"
    return value


def main() -> int:
    from tests.serving_api.first_day import first_day

    with tempfile.TemporaryDirectory() as folder, first_day(Path(folder), "2026-08-21T20:00") as day:
        day.walk()
        text = orjson.dumps(
            day.documented.examples, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS
        ).decode()
        Path(EXAMPLES).write_text(text.replace(str(folder), "") + "\n", encoding="utf-8")
        sys.stdout.writelines(f"{name}: {wrong}\n" for name, wrong in day.documented.denied.items())
        sys.stdout.write(f"{len(day.documented.examples)} examples\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
