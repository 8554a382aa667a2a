"""CommonMark: the examples of its specification, as a report's page shows them."""

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from markdown_it import MarkdownIt

from app.reports.rendering.page import clean_prose, render_prose
from bench.conformance.outcome import Outcome, count_checks
from bench.conformance.packages import find_node, find_package

READ = "console.log(JSON.stringify(require(process.argv[1]).tests))"
RAW = "raw HTML in a report is words, never tags"
BETWEEN = re.compile(r">\s+<")
RAW_TOKENS = ("html_block", "html_inline")
_WITH_HTML = MarkdownIt("commonmark")


def check_markdown(folder: Path) -> Outcome:
    """Check each example without raw HTML: the page shows the specification's own HTML, cleaned as the page is."""
    command = [find_node(folder), "-e", READ, str(find_package(folder, "commonmark-spec"))]
    read = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    # The specification writes tabs as arrows.
    examples = {f"{each['number']} {each['section']}": (_with_tabs(each["markdown"]), _with_tabs(each["html"])) for each in read}
    skipped = {name: RAW for name, (markdown, _) in examples.items() if _has_raw_html(markdown)}
    return count_checks(_compare({name: pair for name, pair in examples.items() if name not in skipped}), skipped)


def _compare(examples: Mapping[str, tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for name, (markdown, page) in examples.items():
        shown, wanted = (BETWEEN.sub("><", text) for text in (render_prose(markdown, {}, set()), clean_prose(page)))
        yield name, "" if shown == wanted else f"{shown!r} instead of {wanted!r}"


def _with_tabs(text: str) -> str:
    return text.replace("→", "\t")


def _has_raw_html(markdown: str) -> bool:
    tokens = _WITH_HTML.parse(markdown)
    return any(part.type in RAW_TOKENS for token in tokens for part in (token, *(token.children or ())))
