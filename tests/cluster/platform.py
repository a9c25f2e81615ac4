"""`python -m tests.cluster.platform`: what `make cluster` starts, without the load of a first start: the test
asks for the day itself. Servers, folders and ports are those of the environment."""

import os
import sys

from schedules.supervisor import app


class EmptyStart(app.Start):
    """All processes of the topology over an empty warehouse."""

    def _load(self) -> None:
        """Nothing: the test asks for it."""


if __name__ == "__main__":
    sys.exit(app.run(os.environ, start_of=EmptyStart))
