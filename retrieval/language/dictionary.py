"""The English dictionary of pyspellchecker: which words there are, also where no source uses them."""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spellchecker import SpellChecker


def is_word(written: str) -> bool:
    """Say whether English has a word; a short form may lack its apostrophe ("doesnt")."""
    return bool(_open().known([written, f"{written[:-1]}'{written[-1:]}"]))


@cache
def _open() -> "SpellChecker":
    from spellchecker import SpellChecker  # its words take a fifth of a second to read, and few processes need them

    return SpellChecker(language="en")
