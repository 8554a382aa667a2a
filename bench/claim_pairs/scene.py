"""A sentence of a text of which a claim is made, with what the making draws from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from app.domain.query import Language
from bench.claim_pairs.pairs import SourceText
from bench.claim_pairs.substitutions import NAMES, load_wordings, substitute
from training.synthesis.graph_queries.typed_names import find_typed_names

MOST_NAMES = 400
NamePools = Mapping[tuple[Language, str], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Scene:
    """Sentence `at` of a text. `names` are those of other texts; `draw` decides whatever is left to chance."""

    text: SourceText
    at: int
    names: NamePools
    draw: Random

    @property
    def sentence(self) -> str:
        """The sentence."""
        return self.text.sentences[self.at]

    @property
    def language(self) -> Language:
        """The language of the text."""
        return self.text.language

    @property
    def chinese(self) -> bool:
        """Whether the text is Chinese."""
        return self.language is Language.CHINESE

    def take_list(self, *path: str) -> Any:
        """Return a list of the generator's wordings in the language of the text."""
        found: Any = load_wordings()
        for name in path[:1]:
            found = found[name]
        found = found[NAMES[self.language]]
        for name in path[1:]:
            found = found[name]
        return found

    def substitute(self, *path: str) -> str | None:
        """Return the sentence with one substitution from a list, or None."""
        return substitute(self.sentence, self.take_list(*path), self.language, self.draw)


def pool_names(texts: Iterable[SourceText]) -> Mapping[tuple[Language, str], tuple[str, ...]]:
    """Return names by language and kind, from these texts."""
    pools: dict[tuple[Language, str], dict[str, None]] = {}
    for text in texts:
        for sentence in text.sentences:
            for name in find_typed_names(sentence, text.language):
                pools.setdefault((text.language, name.kind), {})[name.text] = None
    return {key: tuple(names)[:MOST_NAMES] for key, names in pools.items()}
