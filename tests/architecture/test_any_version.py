"""Two versions work over one store while they are exchanged: what a newer one kept, this one reads (ADR 0010).

Found by looking at the code, so that a noun of tomorrow is held to it too.
"""

import ast
import importlib
import itertools
import pkgutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from types import ModuleType
from typing import Any
from uuid import UUID

import pytest
from polyfactory.factories.pydantic_factory import ModelFactory
from pydantic import BaseModel, ValidationError
from pydantic_core import to_json, to_jsonable_python

import app.domain
import workflows.durable
from app.domain.blocks import Block, BlockKind, read_blocks
from app.domain.evidence_rubric import CriterionType, EvidenceCriterion
from app.domain.options import SearchScope
from app.domain.plan import ResearchPlan, Subtask
from app.domain.race_rubric import RaceCriterion, RaceDimension, RaceRubric
from app.domain.reading import Reading
from app.domain.retraining import Cycle, CyclePlan
from app.domain.rubric import Criterion
from app.domain.scorecard import CriterionScore
from app.domain.served_models import ModelRole
from app.domain.training_stage import ModelServer, TrainingStage
from app.domain.value import Value
from app.preferences.nouns.feedback import Choice, ChoiceReason, ChoiceVerdict
from app.preferences.nouns.feedback import Dimension as Judged
from app.runs.service.temporal_payloads import noun_converter
from tests.architecture.test_files import ROOT

# What reads the words of a person, a model, a server or a file that somebody wrote: there a typo must not pass for data.
# The last are no noun's: they read what their own child process said a moment ago.
OUTSIDE = (
    *(
        "app/settings.py",
        "workflows/agents/answer_reading.py",
        "retrieval/service/search_routes.py",
    ),
    *(
        "retrieval/outside/web/",
        "retrieval/outside/scholar/",
        "retrieval/outside/providers_file.py",
        "retrieval/outside/mcp/accounts.py",
        "retrieval/outside/mcp/configuration.py",
    ),
    *(
        "retrieval/encoding/onnx_weights.py",
        "workflows/chat_models/local_models.py",
        "infra/cli/run_commands.py",
        "infra/cli/ask.py",
    ),
    *(
        "app/models/service/plan_files.py",
        "infra/cli/admin_commands.py",
        "app/exports/service/child.py",
        "retrieval/fetch/parsing.py",
    ),
)
READS = ("model_validate", "model_validate_json", "model_validate_strings", "validate_json", "validate_python")
LATER = "a_field_of_tomorrow"


def strict_reads(text: str) -> Iterator[int]:
    """Lines that refuse fields they do not know."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in READS:
            told = {keyword.arg for keyword in node.keywords}
            if told.isdisjoint(("extra", "from_attributes")):
                yield node.lineno


def test_only_what_comes_from_outside_is_read_strictly() -> None:
    """Everything else goes through `Value.of_any_version`, or says what becomes of unknown fields."""
    files = (path for package in ("app", "workflows", "retrieval", "infra") for path in (ROOT / package).rglob("*.py"))
    named = {path.relative_to(ROOT).as_posix(): path for path in files}
    texts = {name: path.read_text() for name, path in named.items() if not name.startswith(OUTSIDE)}
    found = {name: list(strict_reads(text)) for name, text in texts.items() if "validate" in text}
    assert not {name: lines for name, lines in found.items() if lines}


def test_a_strict_read_is_noticed() -> None:
    assert list(strict_reads("x = 1\ny = Turn.model_validate_json(row)")) == [2]
    assert not list(strict_reads("Turn.of_any_version(row)\nTurn.model_validate_json(row, extra='ignore')"))


def modules(package: ModuleType) -> Iterator[ModuleType]:
    for found in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        yield importlib.import_module(found.name)


def resource_nouns() -> Iterator[ModuleType]:
    """Every module of nouns of a resource: `app/<resource>/nouns.py`, or those of the folder."""
    for path in sorted((ROOT / "app").glob("*/nouns*")):
        module = importlib.import_module(f"app.{path.parent.name}.nouns")
        yield from (module,) if path.suffix else modules(module)


def nouns() -> list[type[Value]]:
    """Every noun of the domain and of the resources, and whatever travels between workflows and activities."""
    declared = (
        kind
        for module in itertools.chain(modules(app.domain), modules(workflows.durable), resource_nouns())
        for kind in vars(module).values()
    )
    return sorted({k for k in declared if isinstance(k, type) and issubclass(k, Value) and k is not Value}, key=str)


numbers = itertools.count()
STAGE = TrainingStage(
    name="rubric",
    role=ModelRole.RUBRIC,
    recipe="rubric_generator",
    config="recipe.toml",
    kind="preference-pairs",
    gate="gate.toml",
    exam="exam.toml",
    server=ModelServer(address="http://models.example:8000/v1", base="base"),
)
# Nouns whose rules say more than their types; the numbers keep two of a kind apart.
SAMPLES: dict[type[Value], Callable[[], Value]] = {
    SearchScope: lambda: SearchScope(domains_allowed=("example.org",)),
    ResearchPlan: lambda: ResearchPlan(
        subtasks=(Subtask(id="s1", title="one", question="why?"),), readings=(Reading(written="a", read="b"),)
    ),
    EvidenceCriterion: lambda: EvidenceCriterion(
        id=f"c{next(numbers)}",
        type=CriterionType.FACTUAL,
        description=f"It is {next(numbers)}.",
        weight=1,
        source_leaf_ids=("l1",),
        evidence=("so",),
    ),
    RaceRubric: lambda: RaceRubric(
        weights={RaceDimension.INSIGHT: 1}, criteria={RaceDimension.INSIGHT: (RaceCriterion(criterion="deep", weight=1),)}
    ),
    Choice: lambda: Choice(verdict=ChoiceVerdict.TIE, reasons=(ChoiceReason(dimension=Judged.USEFULNESS),)),
    Criterion: lambda: Criterion(title=f"no. {next(numbers)}", description="Key Criterion: It says why.", weight=5),
    TrainingStage: lambda: STAGE,
    CyclePlan: lambda: CyclePlan(name="weekly", since=datetime(2026, 1, 1, tzinfo=UTC), stages=(STAGE,)),
    Cycle: lambda: Cycle(
        id=UUID(int=next(numbers)),
        plan=SAMPLES[CyclePlan](),
        folder="/loop",
        asked_by="ann@example.org",
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
    ),
    CriterionScore: lambda: CriterionScore(criterion=SAMPLES[Criterion](), score=0.5),
}


class Example(ModelFactory[Value]):
    """Values by their types; those of `SAMPLES` as there."""

    __is_base_factory__ = True
    __random_seed__ = 1

    @classmethod
    def build(cls, *args: Any, **kwargs: Any) -> Value:
        sample = SAMPLES.get(cls.__model__)
        return sample() if sample else super().build(*args, **kwargs)


Example.add_provider(Block, lambda: Block(BlockKind.ITEM, 1, next(numbers) + 2))


def test_blocks_of_a_newer_version_are_read_without_what_it_knew_more() -> None:
    assert read_blocks([["item", 1, 2, None, 3, "", "new"]]) == (Block(BlockKind.ITEM, 1, 2, None, 3),)


@pytest.mark.parametrize("kind", nouns(), ids=lambda kind: kind.__name__)
def test_a_noun_that_a_newer_version_kept_is_read(kind: type[Value]) -> None:
    value = Example.create_factory(kind).build()
    kept = to_json(from_tomorrow(value))
    assert kind.of_any_version(kept) == kind.of_any_version(from_tomorrow(value)) == value
    converter = noun_converter.payload_converter
    assert converter.from_payloads(converter.to_payloads([from_tomorrow(value)]), [kind]) == [value]
    with pytest.raises(ValidationError) as refused:
        kind.model_validate_json(kept)
    assert "extra_forbidden" in {error["type"] for error in refused.value.errors()}


def from_tomorrow(value: Any) -> Any:
    """What a version would have kept that gives each noun in it, at any depth, one more field."""
    if isinstance(value, BaseModel):
        fields = type(value).model_fields
        return {field.alias or name: from_tomorrow(getattr(value, name)) for name, field in fields.items()} | {
            LATER: {"is": ["new"]}
        }
    if isinstance(value, (tuple, list, set, frozenset)):
        return [from_tomorrow(each) for each in value]
    if isinstance(value, dict):
        return {key: from_tomorrow(each) for key, each in value.items()}
    return to_jsonable_python(value)
