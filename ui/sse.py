"""Reading server-sent events from an open response, line by line as they arrive (WHATWG HTML, section 9.2)."""

from collections.abc import Iterator

import requests

CHUNK_BYTES = 65_536


def read_events(response: requests.Response) -> Iterator[str | None]:
    """The data of each event; None for each comment, which is how a server says that it is still there."""
    data: list[str] = []
    for line in _lines(response):
        if line.startswith(":"):
            yield None
        elif line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            yield "\n".join(data)
            data = []


def _lines(response: requests.Response) -> Iterator[str]:
    """Complete lines, each as soon as its end is there: `read1` never waits to fill its buffer."""
    rest = b""
    while chunk := response.raw.read1(CHUNK_BYTES):
        *complete, rest = (rest + chunk).split(b"\n")
        for line in complete:
            yield line.removesuffix(b"\r").decode("utf-8")
