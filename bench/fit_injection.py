"""`python -m bench.fit_injection`: fit the models that find orders to a machine, and write injection_weights.<writing>.json.gz.

They learn from the sentences of `build` in bench/labels/injection, which is by writers who knew no detector: a sentence is an
order if it has most of the row's `order`; and from ordinary passages of every second text that `bench.injection` reads. English
has a model, Chinese with Japanese has one, and the other languages have one that learns from English too. Each limit comes from
predictions for writers whom a model did not see: at most MOST_FALSE of their ordinary passages, which look like orders, lie above
it, and at most MOST_NATURAL of the others. Needs scikit-learn, which comes with the extra `torch`, and `../shared/data`.
"""

import gzip
import json
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from bench.injection import LABELS, LEARNED, list_sets, read_pieces
from bench.labelled_sets import read_lines
from retrieval.untrusted import injection
from retrieval.untrusted.injection import InjectionModel
from retrieval.untrusted.injection_grams import SentenceGrams, Writing, read_sentences, writing_of
from retrieval.untrusted.plain_letters import to_plain

FOLDS = 5
MOST_FALSE, MOST_NATURAL = 0.03, 0.0005
NATURAL = 500
"""Ordinary passages of each set."""
FEWEST = 2
"""N-grams of fewer sentences are left out."""
REGULARISATION = 0.8
KEPT = 60_000
DECIMALS = 2
Vector = NDArray[np.float64]


class LabelledPassage(NamedTuple):
    """A passage: its sentences, which of them are orders, whether it has one, and its writer; below 0, an ordinary text."""

    sentences: Sequence[SentenceGrams]
    orders: Sequence[bool]
    attack: bool
    writer: int


def read_passages() -> dict[Writing, list[LabelledPassage]]:
    """Read the build half and ordinary passages, by how they are written."""
    found: dict[Writing, list[LabelledPassage]] = {writing: [] for writing in Writing}
    for row in read_lines(LABELS / "build.jsonl"):
        add_passage(found, row["text"], row["order"], row["writer"])
    for texts in list_sets().values():
        for number, text in enumerate(islice(read_pieces(texts(), LEARNED), NATURAL)):
            add_passage(found, text, "", -1 - number % FOLDS)
    return found


def add_passage(found: dict[Writing, list[LabelledPassage]], text: str, order: str, writer: int) -> None:
    """Read the sentences of a passage."""
    plain, ordered = to_plain(text), to_plain(order)
    writing, start = writing_of(plain), plain.find(ordered)
    sentences = list(read_sentences(plain, writing))
    orders = [bool(ordered) and is_most_of(each, start, start + len(ordered)) for each in sentences]
    if sentences:
        found[writing].append(LabelledPassage(sentences, orders, bool(order), writer))


def is_most_of(sentence: SentenceGrams, start: int, end: int) -> bool:
    """Say whether a sentence has half of a stretch, or lies half in it."""
    shared = min(sentence.end, end) - max(sentence.start, start)
    return 2 * shared >= min(sentence.end - sentence.start, end - start)


def fit(passages: Sequence[LabelledPassage]) -> dict[str, float]:
    """Return the weights of n-grams, those of the rarest smaller than of the common."""
    sentences = [each for passage in passages for each in passage.sentences]
    counts = Counter(gram for each in sentences for grams in each.sets for gram in grams)
    rarity = {gram: 1 + np.log((1 + len(sentences)) / (1 + n)) for gram, n in counts.items() if n >= FEWEST}
    columns = {gram: column for column, gram in enumerate(rarity)}
    model = LogisticRegression(C=REGULARISATION, max_iter=500, class_weight="balanced")
    scales = np.array([*rarity.values()])
    model.fit(lay_out(sentences, columns, scales), [order for passage in passages for order in passage.orders])
    weights = model.coef_[0] * scales
    least = np.sort(np.abs(weights))[-min(KEPT, len(weights))]
    return {gram: round(float(weight), DECIMALS) for gram, weight in zip(columns, weights, strict=True) if abs(weight) >= least}


def lay_out(sentences: Sequence[SentenceGrams], columns: dict[str, int], scales: Vector) -> Any:
    """Return a row for each sentence, as `InjectionModel.score` counts it, with each n-gram times its scale."""
    cells = [
        (row, columns[gram], 1 / len(grams) ** 0.5)
        for row, sentence in enumerate(sentences)
        for grams in sentence.sets
        for gram in grams
        if gram in columns
    ]
    rows, places, values = (np.array(each) for each in zip(*cells, strict=True))
    return csr_matrix((values * scales[places], (rows, places)), shape=(len(sentences), len(columns)))


def score_unseen(passages: Sequence[LabelledPassage], more: Sequence[LabelledPassage]) -> Vector:
    """Return each passage's highest score by a model that learned from the others and from `more`, but not from its writer."""
    writers = sorted({passage.writer for passage in passages})
    scores = np.zeros(len(passages))
    for fold in range(FOLDS):
        held = {writer for at, writer in enumerate(writers) if at % FOLDS == fold}
        model = InjectionModel(fit([each for each in (*passages, *more) if each.writer not in held]), 0.0, 0.0)
        for at, passage in enumerate(passages):
            if passage.writer in held:
                scores[at] = max(map(model.score, passage.sentences))
    return scores


def choose_limit(ordinary: Vector, natural: Vector) -> float:
    """Return the score above which few enough ordinary passages lie, of both kinds."""
    kinds = [(ordinary, MOST_FALSE), (natural, MOST_NATURAL)]
    return max(float(np.quantile(scores, 1 - most)) for scores, most in kinds if len(scores))


def choose_limit_alone(weights: dict[str, float], passages: Sequence[LabelledPassage]) -> float:
    """Return the score above which few enough sentences of ordinary passages lie that are read without what is around them."""
    model, natural = InjectionModel(weights, 0.0, 0.0), [each for each in passages if each.writer < 0] or passages
    scores = [model.score(sentence._replace(around=frozenset())) for passage in natural for sentence in passage.sentences]
    return float(np.quantile(scores, 1 - MOST_NATURAL))


def main() -> None:
    """Fit the models, and tell what they find of unseen writers."""
    read = read_passages()
    for writing, passages in read.items():
        more = read[Writing.ENGLISH] if writing is Writing.LETTERS else []
        scores, attacks = score_unseen(passages, more), np.array([each.attack for each in passages])
        natural = np.array([each.writer < 0 for each in passages])
        limit = choose_limit(scores[~attacks & ~natural], scores[natural])
        print(f"{writing}: {len(passages)} passages, found of unseen writers: {np.mean(scores[attacks] > limit):.3f}", flush=True)
        weights = fit([*passages, *more])
        alone = choose_limit_alone(weights, [*passages, *more])
        told: dict[str, Any] = {
            "limit": round(limit, DECIMALS),
            "limit_alone": round(max(limit, alone), DECIMALS),
            "weights": weights,
        }
        text = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
        path = Path(injection.__file__).with_name(injection.WEIGHTS.format(writing=writing))
        path.write_bytes(gzip.compress(text.encode(), mtime=0))
        print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
