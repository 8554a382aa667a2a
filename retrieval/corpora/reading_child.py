"""The process that reads files of users. It has no secrets in its environment, writes no file, and may be killed at any time.

    python -m retrieval.corpora.reading_child

For each request on standard input (a line of JSON with `size` and `suffix`, then `size` bytes) it answers one line of JSON: the
fields of an `Extract`, or `{"error": reason}`.
"""

import json
import os
import resource
import sys
from typing import BinaryIO

from app.domain.errors import SourceUnreadable
from retrieval.corpora.documents import read_content

MEMORY_BYTES = 2 << 30
OPEN_FILES = 64
CPU_SECONDS = 180
"""The limit for one file. A waiting parent gives up earlier; this ends a child whose parent is gone."""


def answer_request(suffix: str, content: bytes) -> str:
    """Answer one request."""
    try:
        found = read_content(suffix, content)
    except SourceUnreadable as error:
        return json.dumps({"error": str(error)})
    except (MemoryError, RecursionError) as error:
        return json.dumps({"error": f"is too deep or too large to be read ({type(error).__name__})"})
    return json.dumps(found._asdict() | {"published": str(found.published or ""), "changed": str(found.changed or "")})


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until they end."""
    for line in requests:
        asked = json.loads(line)
        used = resource.getrusage(resource.RUSAGE_SELF)
        resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + CPU_SECONDS, resource.RLIM_INFINITY))
        answers.write(answer_request(asked["suffix"], requests.read(asked["size"])).encode() + b"\n")
        answers.flush()


def main() -> None:
    """Set the limits, then serve. Output of libraries goes to standard error, so that it cannot look like an answer."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, OPEN_FILES))
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
