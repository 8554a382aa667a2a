"""Seed topics of trees, drawn from a corpus by category in an order that the seed fixes (DeepRubric appendix C.1).

A document of a corpus has no category, so this rule gives it one, in both languages and without a model. A *theme* is a word that
some openings say over and over and most not at all: the 40 words with the highest n * n / d, where d openings have the word and n
have it three times or more. A document's category is the theme that its opening says most often (twice at least), else `other`.
The paper sampled by the categories of Wikipedia instead, and by areas of research.
"""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path

import orjson

from app.domain.evidence import content_key
from app.domain.query import Language
from app.domain.script import IDEOGRAPHS, is_ideograph
from retrieval.language.stop_words import STOP_WORDS, split_at_stop_words
from retrieval.language.tokens import split_pairs
from retrieval.language.traditional import simplify
from training.folders import replace_file
from training.synthesis.source_corpus import CorpusDocument, SourceCorpus

OPENING_CHARS = {Language.ENGLISH: 1_200, Language.CHINESE: 400}
SHORTEST = {Language.ENGLISH: 600, Language.CHINESE: 180}
"""Documents that are shorter, in characters, give no seed topic."""
THEMES = 40
REPEATED = 3
LEAST_SAID = 2
COMMONEST = 0.1
"""A word that more than this share of openings has is no theme."""
OTHER = "other"
_RUN = re.compile(rf"[{IDEOGRAPHS}]+|[^\W\d_{IDEOGRAPHS}]{{4,}}")


@dataclass(frozen=True, slots=True)
class SeedTopic:
    """A topic from which a tree grows: a document of a corpus, its category and its opening. It is a `Candidate`."""

    id: str
    corpus: str
    title: str
    address: str
    opening: str
    category: str
    language: Language


def draw_from_corpora(corpora: Sequence[SourceCorpus], seed: int, language: Language | None = None) -> Iterator[SeedTopic]:
    """Yield the seed topics of several corpora, one of each in turn."""
    drawn = [draw_topics(corpus, seed, language) for corpus in corpora]
    return (topic for topic in chain.from_iterable(zip_longest(*drawn)) if topic is not None)


def draw_once(path: Path, draw: Callable[[], Iterable[SeedTopic]]) -> Iterator[SeedTopic]:
    """Yield topics that are drawn at the first time, and read from a file from then on: a draw reads the whole corpus."""
    if not path.exists():
        replace_file(path, b"".join(orjson.dumps(topic, option=orjson.OPT_APPEND_NEWLINE) for topic in draw()))
    with path.open("rb") as lines:
        for line in lines:
            said = orjson.loads(line)
            yield SeedTopic(**{**said, "language": Language(said["language"])})


def draw_topics(corpus: SourceCorpus, seed: int, language: Language | None = None) -> list[SeedTopic]:
    """Return all seed topics of a corpus, or those in one language: one of each category in turn, until none is left."""
    documents = [document for document in corpus.list_documents() if language in (None, document.language)]
    by_category: dict[str, list[SeedTopic]] = defaultdict(list)
    for spoken in Language:
        for topic in _read_topics(corpus, [document for document in documents if document.language is spoken]):
            by_category[f"{spoken} {topic.category}"].append(topic)
    categories = sorted(by_category, key=lambda name: _shuffle_key(seed, name))
    piles = [sorted(by_category[name], key=lambda topic: _shuffle_key(seed, topic.address)) for name in categories]
    return [topic for topic in chain.from_iterable(zip_longest(*piles)) if topic is not None]


def _shuffle_key(seed: int, name: str) -> str:
    return hashlib.sha256(f"evidence tree {seed} {name}".encode()).hexdigest()


def _read_topics(corpus: SourceCorpus, documents: Iterable[CorpusDocument]) -> Iterator[SeedTopic]:
    texts = ((document, corpus.read_text(document.source)) for document in documents)
    long = [
        (document, text[: OPENING_CHARS[document.language]])
        for document, text in texts
        if len(text) >= SHORTEST[document.language]
    ]
    counts = [Counter(_list_theme_words(opening)) for _, opening in long]
    themes = find_themes(counts)
    for (document, opening), count in zip(long, counts, strict=True):
        source = document.source
        key = content_key("evidence tree", corpus.name, source.url)
        category = name_category(count, themes)
        yield SeedTopic(key, corpus.name, source.title, source.url, opening, category, document.language)


def _list_theme_words(opening: str) -> Iterator[str]:
    """Yield the words that may be themes: pairs of ideographs, and other words of four letters or more that are no stop words."""
    for run in _RUN.findall(simplify(opening.lower())):
        if is_ideograph(run[0]):
            yield from (pair for piece in split_at_stop_words(run) for pair in split_pairs(piece) if len(pair) > 1)
        elif run not in STOP_WORDS:
            yield run


def find_themes(counts: Sequence[Mapping[str, int]]) -> tuple[str, ...]:
    """Return the themes of openings, of which each has its words counted; the clearest theme first."""
    having = Counter(word for count in counts for word in count)
    repeating = Counter(word for count in counts for word, times in count.items() if times >= REPEATED)
    usual = [word for word in repeating if repeating[word] > 1 and having[word] <= max(COMMONEST * len(counts), REPEATED)]
    return tuple(sorted(usual, key=lambda word: (-(repeating[word] ** 2) / having[word], word))[:THEMES])


def name_category(count: Mapping[str, int], themes: Sequence[str]) -> str:
    """Return the theme that an opening says most often; the clearer one of two."""
    best = max(themes, key=lambda word: count.get(word, 0), default=OTHER)
    return best if count.get(best, 0) >= LEAST_SAID else OTHER
