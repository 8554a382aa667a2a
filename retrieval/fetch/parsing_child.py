"""The process that parses pages. It has no secrets in its environment, writes no file, and may be killed at any time.

    python -m retrieval.fetch.parsing_child

For each request on standard input (a line of JSON with `size`, `content_type` and `charset`, then `size` bytes) it answers one
line of JSON: `{"readable": ...}` or `{"error": reason}`.
"""

import json
import os
import resource
import sys
from typing import BinaryIO

from app.domain.errors import SourceUnreadable
from retrieval.fetch.readable import read_content

MEMORY_BYTES = 2 << 30


def answer_request(content: bytes, content_type: str, charset: str) -> str:
    """Answer one request."""
    try:
        return f'{{"readable": {read_content(content, content_type, charset).model_dump_json()}}}'
    except SourceUnreadable as error:
        return json.dumps({"error": str(error)})
    except (MemoryError, RecursionError) as error:
        return json.dumps({"error": f"is too deep or too large to be read ({type(error).__name__})"})


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until they end."""
    for line in requests:
        asked = json.loads(line)
        content = requests.read(asked["size"])
        answers.write(answer_request(content, asked["content_type"], asked["charset"]).encode("utf-8", "replace") + b"\n")
        answers.flush()


def main() -> None:
    """Set the limits, then serve. Output of libraries goes to standard error, so that it cannot look like an answer."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
