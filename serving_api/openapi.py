"""`python -m serving_api.openapi` prints the OpenAPI document, without a server or a database."""

import sys
import tempfile

import orjson

from resources.settings import Settings
from serving_api.app import create_app


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        app = create_app(Settings(data_dir=folder))
        sys.stdout.buffer.write(orjson.dumps(app.openapi(), option=orjson.OPT_INDENT_2) + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
