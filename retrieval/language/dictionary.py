"""The dictionaries of pyspellchecker: which words there are, also where no source uses them."""

import gzip
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files


def is_word(written: str) -> bool:
    """Say whether English has a word; a short form may lack its apostrophe ("doesnt")."""
    lower = written.lower()
    return any(f'"{form}"'.encode() in _read_words() for form in (lower, f"{lower[:-1]}'{lower[-1:]}"))


@cache
def _read_words() -> bytes:
    """Return the words as they are stored, in quotation marks: few are looked up, and a table of them all takes 30 MB."""
    return gzip.decompress(files("spellchecker").joinpath("resources/en.json.gz").read_bytes())


@cache
def read_shares(language: str) -> Mapping[str, float]:
    """Return the words of a language (en, de, fr, es, it, nl, pt), in lower case, and each one's share of all in running text."""
    content = files("spellchecker").joinpath(f"resources/{language}.json.gz").read_bytes()
    counts: dict[str, int] = json.loads(gzip.decompress(content))
    total = sum(counts.values())
    return {word: count / total for word, count in counts.items()}
