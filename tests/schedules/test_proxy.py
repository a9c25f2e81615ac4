"""A proxy of the shell, in either spelling: it is for upstreams, and what runs here is reached without it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest

SILENT = "http://127.0.0.1:9"
PING = """
import json, os, sys
from core.loopback import add_no_proxy
add_no_proxy(os.environ)
from schedules.supervisor.liveness import code_server_answers
print(json.dumps([code_server_answers(int(sys.argv[1])), os.environ["no_proxy"], os.environ["NO_PROXY"]]))
"""


@pytest.fixture
def port() -> Iterator[int]:
    """A gRPC server that answers Dagster's ping."""

    def ping(_request: bytes, _context: grpc.ServicerContext) -> bytes:
        return b""

    server = grpc.server(ThreadPoolExecutor(1))
    handler = grpc.unary_unary_rpc_method_handler(ping, request_deserializer=bytes, response_serializer=bytes)
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("api.DagsterApi", {"Ping": handler}),)
    )
    number = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield number
    server.stop(None)


@pytest.mark.parametrize("spelling", ["http_proxy", "HTTP_PROXY", "grpc_proxy"])
def test_the_code_server_is_reached_beside_a_proxy(port: int, spelling: str) -> None:
    environ = {spelling: SILENT, "NO_PROXY": "intranet.example", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", PING, str(port)],
        env=environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    hosts = "intranet.example,127.0.0.1,localhost,::1"
    assert json.loads(done.stdout) == [True, hosts, hosts]
