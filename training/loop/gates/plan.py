"""The plan of a gate: what has to be proven, with margins that were stated before the training cycle began. A TOML file."""

import tomllib
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Self

from pydantic import AwareDatetime, Field, ValidationError, model_validator

from app.domain.errors import InvalidInput
from app.domain.key_faults import describe_faults
from app.domain.value import Value

COST = "cost"
OF_COST = "cost/"
"""Begins the names of the costs of single exams, and of parts of a cost."""
PROBE = "probe/"
PROBES = ("padded", "keyword_stuffed", "rubric_echo", "citation_stuffed", "judge_addressing")


class ProofKind(StrEnum):
    """What a proof has to show."""

    SUPERIORITY = "superiority"
    NON_INFERIORITY = "non-inferiority"
    NO_GAIN = "no gain of a probe"


@dataclass(frozen=True, slots=True)
class Proof:
    """A statement that has to hold: the gain of a metric is above -`margin`.

    A gain is the change for the better; with `relative`, as a share of the value before. `expected` is the true gain for which
    the number of queries is planned.
    """

    metric: str
    kind: ProofKind
    margin: float
    expected: float = 0.0
    lower_is_better: bool = False
    relative: bool = False


class Superiority(Value):
    """The one metric that has to become better, and the gain that is expected of it."""

    metric: str
    gain: float = Field(gt=0)


class Margins(Value):
    """What may be lost: points of the three metrics, a share of the cost, and what a probe may gain in points."""

    preference_accuracy: float = Field(default=0.02, gt=0, lt=1)
    search_accuracy: float = Field(default=0.02, gt=0, lt=1)
    citation_support: float = Field(default=0.02, gt=0, lt=1)
    cost: float = Field(default=0.1, gt=0, lt=1)
    probes: float = Field(default=0.02, gt=0, lt=1)


class GatePlan(Value):
    """What a candidate has to show.

    `stated` is when the plan was written, `cycle_starts` when training begins. The judge of the gate, the judge that gives the
    reward and the maker of the training set are three. `probes` is empty only where neither judge nor rubric generator changes.
    `lower_is_better` names metrics beside the costs, `untouched` those of the margins that the candidate's role cannot move: a
    writer of rubrics does not search. Each of `costs` is proven by itself: exams of two kinds have a cost each. `alpha` is the
    chance at which one proof may err, shared by all planned `looks` at growing items. `power` is the chance with which a
    candidate of the stated gain is promoted, for which queries are counted.
    """

    stated: AwareDatetime
    cycle_starts: AwareDatetime
    gate_judge: str = Field(min_length=1)
    reward_judge: str = Field(min_length=1)
    set_maker: str = Field(min_length=1)
    superiority: Superiority
    margins: Margins = Margins()
    probes: tuple[str, ...] = PROBES
    lower_is_better: frozenset[str] = frozenset()
    untouched: frozenset[str] = frozenset()
    costs: tuple[str, ...] = Field(default=(COST,), min_length=1)
    alpha: float = Field(default=0.05, gt=0, lt=0.5)
    looks: int = Field(default=1, ge=1)
    power: float = Field(default=0.8, gt=0.5, lt=1)
    seed: int = 0
    resamples: int = Field(default=2_000, ge=1_000)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.stated >= self.cycle_starts:
            raise ValueError("the plan was stated after the cycle began: margins come first")
        if len({name.strip().casefold() for name in (self.gate_judge, self.reward_judge, self.set_maker)}) < 3:
            raise ValueError("gate_judge, reward_judge and set_maker have to be three different ones")
        if self.superiority.metric in self.untouched:
            raise ValueError("the metric of the superiority is among those that the role cannot move")
        if unknown := self.untouched - {name for name in Margins.model_fields if name != "probes"}:
            raise ValueError(f"untouched names {min(unknown)}, which is no margin")
        return self

    @property
    def level(self) -> float:
        """The chance at which one proof may err at one look."""
        return self.alpha / self.looks

    def list_proofs(self) -> list[Proof]:
        """List all proofs; the superiority is the first."""
        better = self.superiority
        first = Proof(better.metric, ProofKind.SUPERIORITY, 0.0, better.gain, self.wants_lower(better.metric))
        kept = [
            Proof(name, ProofKind.NON_INFERIORITY, margin, 0.0, self.wants_lower(name), metric == COST)
            for metric, margin in self.margins
            if metric != "probes" and metric not in self.untouched
            for name in (self.costs if metric == COST else (metric,))
        ]
        probes = [Proof(PROBE + probe, ProofKind.NO_GAIN, self.margins.probes, 0.0, True) for probe in self.probes]
        return [first, *kept, *probes]

    def wants_lower(self, metric: str) -> bool:
        """Tell whether a lower value of this metric is better."""
        return metric == COST or metric in self.lower_is_better or metric.startswith((PROBE, OF_COST))


def read_plan(path: Path, cycle_starts: datetime | None = None) -> GatePlan:
    """Read a plan. Of a cycle it is known when it began, whatever the file says.

    Raises:
        InvalidInput: it is missing, no TOML, or breaks a rule; the message names the key.
    """
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
        return GatePlan.model_validate(told | ({"cycle_starts": cycle_starts} if cycle_starts else {}))
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} is no TOML: {error}") from error
    except ValidationError as error:
        raise InvalidInput(f"{path}: {'; '.join(describe_faults(error, GatePlan, 'the plan'))}") from error
