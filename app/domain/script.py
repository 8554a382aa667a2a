"""Which characters are Chinese: one range of ideographs for the whole house."""

import re

IDEOGRAPHS = "\u3400-\u9fff\uf900-\ufaff"
"""The ideographs as a pattern has them between square brackets."""
_KANA = re.compile("[\u3041-\u309f\u30a1-\u30fa]+")
_ONE, _RUN = re.compile(f"[{IDEOGRAPHS}]"), re.compile(f"[{IDEOGRAPHS}]+")
_WORD = re.compile(r"[!-/:-@\[-`{-~]*+\S+")


def is_ideograph(char: str) -> bool:
    """Tell whether a character is Chinese. The empty text is not."""
    return "\u3400" <= char <= "\u9fff" or "\uf900" <= char <= "\ufaff"


def has_ideographs(text: str) -> bool:
    """Tell whether a text has Chinese characters."""
    return _ONE.search(text) is not None


def list_ideographs(text: str) -> list[str]:
    """List the ideographs of a text, in order."""
    return _ONE.findall(text)


def count_ideographs(text: str) -> int:
    """Count the ideographs of a text."""
    return 0 if text.isascii() else sum(map(len, _RUN.findall(text)))


def count_kana(text: str) -> int:
    """Count the kana of a text, which only Japanese has."""
    return sum(map(len, _KANA.findall(text)))


def count_words(text: str) -> int:
    """Count the words of a text as is usual for Chinese: each ideograph is one, and so is what stands between blanks.

    Marks of Markdown that stand alone are none: the bars of a table, the sign of a heading or an item.
    """
    return count_ideographs(text) + len(_WORD.findall(_RUN.sub(" ", text)))
