"""A broker for tests: a virtual host of their own at a server that runs already."""

import os
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from tests.conftest import listens, require

BROKER_URL = os.environ.get("TEST_BROKER_URL", "amqp://guest:guest@127.0.0.1:5672")


def _rabbitmqctl(*arguments: str) -> bool:
    tool = shutil.which("rabbitmqctl")
    if tool is None:
        return False
    done = subprocess.run([tool, "-q", *arguments], capture_output=True, timeout=60, check=False)
    return done.returncode == 0


@contextmanager
def own_broker(prefix: str) -> Iterator[str]:
    """URL of a new virtual host that nobody else uses, deleted at the end."""
    require("RabbitMQ", listens(BROKER_URL), urlsplit(BROKER_URL).netloc.rpartition("@")[2])
    name = f"{prefix}_{uuid.uuid4().hex[:12]}"
    user = urlsplit(BROKER_URL).username or "guest"
    require("rabbitmqctl with the rights of the server's owner", _rabbitmqctl("add_vhost", name), "PATH")
    try:
        _rabbitmqctl("set_permissions", "-p", name, user, ".*", ".*", ".*")
        yield f"{BROKER_URL.rstrip('/')}/{name}"
    finally:
        _rabbitmqctl("delete_vhost", name)
