"""Make one file: `python -m app.exports.service.child FORMAT` reads a manuscript as JSON and writes the made file.

It is a process of its own because typesetting takes seconds of a processor and hundreds of megabytes: neither may be the
API's. Its parent limits its time; it limits its own memory.
"""

import resource
import sys
from collections.abc import Callable

from app.exports.nouns import ExportFormat
from app.exports.service.composing import Manuscript, compose
from app.exports.service.latex import to_latex
from app.exports.service.typesetting import to_pdf
from app.exports.service.word import to_docx

MOST_MEMORY = 1_500_000_000  # bytes of writable memory, for this process and for each it starts
MOST_PROCESSOR = 90  # seconds
LARGEST_FILE = 100_000_000  # bytes

WRITERS: dict[ExportFormat, Callable[[Manuscript], bytes]] = {
    ExportFormat.PDF: lambda manuscript: to_pdf(compose(manuscript), manuscript.finished),
    ExportFormat.DOCX: lambda manuscript: to_docx(compose(manuscript)),
    ExportFormat.LATEX: lambda manuscript: to_latex(compose(manuscript)),
}


def main() -> None:
    """Read the manuscript, make the file, write it."""
    bounds = {resource.RLIMIT_DATA: MOST_MEMORY, resource.RLIMIT_CPU: MOST_PROCESSOR, resource.RLIMIT_FSIZE: LARGEST_FILE}
    for kind, bound in {**bounds, resource.RLIMIT_CORE: 0}.items():
        resource.setrlimit(kind, (bound, bound))
    write = WRITERS[ExportFormat(sys.argv[1])]
    sys.stdout.buffer.write(write(Manuscript.model_validate_json(sys.stdin.buffer.read())))


if __name__ == "__main__":
    main()
