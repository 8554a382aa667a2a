"""SeaweedFS on this machine: a store that speaks S3's protocol, in one process."""

import json
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from infra.extras import find_s3_server
from infra.local.ports import find_free_port

KEY, SECRET = "rubrica", "a secret of the tests"
PORTS = ("master", "volume", "filer", "s3")


def sign_in(address: str, environment: pytest.MonkeyPatch) -> None:
    """Have this process use the store at an address, as its one account."""
    told = {"ENDPOINT_URL": address, "ACCESS_KEY_ID": KEY, "SECRET_ACCESS_KEY": SECRET, "ALLOW_HTTP": "true"}
    for name, value in told.items():
        environment.setenv(f"AWS_{name}", value)


@contextmanager
def running_s3(folder: Path) -> Iterator[str]:
    """Start the store with its state in a folder, and yield its address. It makes a bucket when it is first written to."""
    program = find_s3_server()
    assert program is not None
    account = {"name": "tests", "credentials": [{"accessKey": KEY, "secretKey": SECRET}], "actions": ["Admin"]}
    (folder / "accounts.json").write_text(json.dumps({"identities": [account]}))
    ports = {name: find_free_port() for part in PORTS for name in (f"{part}.port", f"{part}.port.grpc")}
    options = {
        "dir": folder,
        "ip": "127.0.0.1",
        "ip.bind": "127.0.0.1",
        "master.telemetry": "false",
        "master.volumeSizeLimitMB": 64,
        "volume.max": 0,
        "filer.localSocket": folder / "filer.sock",
        "s3.localSocket": folder / "s3.sock",
        "s3.config": folder / "accounts.json",
        "s3.autoCreateBucket": "true",
        "s3.port.iceberg": 0,
        "s3.port.lance": 0,
        **ports,
    }
    command = [program, "server", "-s3", *(f"-{name}={value}" for name, value in options.items())]
    with open(folder / "log.txt", "wb") as log:
        server = subprocess.Popen(command, cwd=folder, stdout=log, stderr=subprocess.STDOUT)
    try:
        _wait_for_port(server, ports["s3.port"], folder / "log.txt")
        yield f"http://127.0.0.1:{ports['s3.port']}"
    finally:
        server.kill()  # asked to stop, it takes half a minute
        server.wait()


def _wait_for_port(server: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    while True:
        assert server.poll() is None, log.read_text()[-2000:]
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
