"""Traditional ideographs read as simplified ones, so that one list of words serves both ways of writing Chinese."""

from retrieval.language.word_lists import read_lists

_SIMPLIFIED = str.maketrans({pair[0]: pair[1] for pair in read_lists("traditional.toml")["pairs"]})


def simplify(text: str) -> str:
    """Return the text with simplified ideographs. Every character keeps its place."""
    return text.translate(_SIMPLIFIED)
