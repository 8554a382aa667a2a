"""Finding numbered lists that do not count up (MindDR Eq. 11, v_md), and code blocks that are never closed."""

from enum import StrEnum

from workflows.checks.markdown import parse_blocks


class MarkdownFault(StrEnum):
    """`numbering`: a list neither counts up by one nor repeats its first number throughout, as Markdown allows.
    `open_code`: a block of code swallows the rest of the text.
    """

    NUMBERING = "numbering"
    OPEN_CODE = "open_code"


def find_markdown_faults(text: str) -> list[MarkdownFault]:
    """Return the faults of a text's lists and code blocks, in order."""
    found: list[MarkdownFault] = []
    lists: list[list[int]] = []
    lines = text.rstrip().split("\n")
    for token in parse_blocks(text):
        if token.type == "ordered_list_open":
            lists.append([])
        elif token.type == "list_item_open" and token.info and lists:
            lists[-1].append(int(token.info))
        elif token.type == "ordered_list_close":
            found += [MarkdownFault.NUMBERING] if not _counts_up(lists.pop()) else []
        elif token.type == "fence" and token.map and not _is_closed(lines[token.map[0] : token.map[1]], token.markup):
            found.append(MarkdownFault.OPEN_CODE)
    return found


def _counts_up(numbers: list[int]) -> bool:
    return numbers == list(range(numbers[0], numbers[0] + len(numbers))) or len(set(numbers)) == 1 if numbers else True


def _is_closed(lines: list[str], fence: str) -> bool:
    return len(lines) > 1 and lines[-1].strip(" \t>").startswith(fence)
