"""The recipe of a kind of set: what its rows are made of, and what its report shows besides."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic

from retrieval.encoding.encoder import Encoder
from training.rewards.notations import Notation
from training.synthesis.training_set.audit import RowAudit
from training.synthesis.training_set.making import C, MakeRow
from training.synthesis.training_set.mixture import Classes, Mixture
from training.synthesis.training_set.outcome import KeptRow, WorkedCandidate
from training.synthesis.training_set.row_groups import Bond

CountFigures = Callable[[Sequence[WorkedCandidate]], Mapping[str, float]]
WHOLE, QUOTED = tuple(Bond), (Bond.QUERY, Bond.LIKENESS)
"""The walls of rows that hold what documents say, and of rows that hold quotations of them."""
PublicTexts = Mapping[str, Sequence[str]]
"""The texts of public sets by the sets' names."""
Illustrate = Callable[[Encoder | None, Sequence[KeptRow], PublicTexts], str]
"""Renders a part of the report as HTML from the rows of all splits."""


def _count_nothing(_: Sequence[WorkedCandidate]) -> Mapping[str, float]:
    return {}


def _know_nothing(_: object) -> Classes:
    return {}


def _ask_nothing(_: object) -> str:
    return ""


def _show_nothing(_: Encoder | None, __: Sequence[KeptRow], ___: PublicTexts) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class SetRecipe(Generic[C]):
    """How a kind of set is made: candidates in their order, a row from each, the statistics of all, and shares of classes.

    `classify` gives the classes of a candidate, by which the rows are mixed; `ask_query` its query, if one is known before the
    work. With mixtures the candidates come to an end. `trained` names the fields besides the query that a policy is trained on.
    `consents_at` is the moment at which readers' consents were looked up, for a set with their texts. `audit` shows rows to
    people. `base` is the lineage of the weights whose own outputs the set has; `notation` that of the answers from which a policy
    learns. `open_encoder` opens the encoder of the set's corpora, which finds queries that mean the same. `walls` are the bonds
    that rows of two splits may not have: `QUOTED` for rows in which the policy sees quotations of documents only.
    """

    candidates: Iterable[C]
    make_row: MakeRow[C]
    count_figures: CountFigures = _count_nothing
    mixtures: Sequence[Mixture] = ()
    classify: Callable[[C], Classes] = _know_nothing
    ask_query: Callable[[C], str] = _ask_nothing
    trained: Sequence[str] = ()
    consents_at: datetime | None = None
    audit: RowAudit | None = None
    base: Mapping[str, str] = field(default_factory=dict)
    notation: Notation | None = None
    illustrate: Illustrate = _show_nothing
    open_encoder: Callable[[], Encoder | None] = lambda: None
    walls: Sequence[Bond] = WHOLE
