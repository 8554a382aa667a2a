"""Things that go by several names, found in a text: who asks for Native Americans means those who were called Indians."""

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import NamedTuple


class Known(NamedTuple):
    """One name of a thing by the keys of its words, the thing's term, which no word has, and all its names as written."""

    keys: tuple[str, ...]
    term: str
    names: tuple[str, ...]


class Thing(NamedTuple):
    """A thing where a text names it: by the text's words `[first, last)`."""

    first: int
    last: int
    known: Known


def known_things(keys_of: Callable[[str], Sequence[str]]) -> dict[str, list[Known]]:
    """The names in `things.toml` by the key of their first word; `keys_of` gives the keys of a text's words."""
    found: dict[str, list[Known]] = {}
    told = tomllib.loads(files("workflows.agents.extractive").joinpath("things.toml").read_text(encoding="utf-8"))
    for names in told["names"]:
        for keys in dict.fromkeys(tuple(keys_of(name)) for name in names):
            found.setdefault(keys[0], []).append(Known(keys, f"={names[0].lower()}", tuple(names)))
    return found


def things_in(keys: Sequence[str], known: Mapping[str, Sequence[Known]]) -> Iterator[Thing]:
    """The things that a text names, given the keys of its words in order; of names within one another, all."""
    for first, key in enumerate(keys):
        for name in known.get(key, ()):
            last = first + len(name.keys)
            if tuple(keys[first:last]) == name.keys:
                yield Thing(first, last, name)
