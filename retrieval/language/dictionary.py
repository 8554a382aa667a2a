"""The English dictionary of pyspellchecker: which words there are, also where no source uses them."""

import gzip
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
