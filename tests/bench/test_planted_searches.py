"""The world of planted searches, its searcher, and its counting, by hand."""

import asyncio
import random
from pathlib import Path
from statistics import fmean

import pytest

from app.domain.chat import Completion
from app.domain.trajectory import Trajectory, Turn, TurnKind
from bench.learning_tasks.beginnings import Start
from bench.learning_tasks.counted_searches import count_search, probe_searches, read_queries
from bench.learning_tasks.planted_searches import (
    BUILDERS,
    ErringSearcher,
    PlantedWork,
    list_phrases,
    plant_works,
    read_findings,
    record_tape,
)
from bench.learning_tasks.searches import FORM_ALONE, TAPE, describe_rl, sample_searches
from training.recipes.config import TINY
from training.rollouts.nouns import RolloutEnd
from workflows.chat_models.scripted import ScriptedModel

WORK = PlantedWork("Ashford", "pier", "Ada Moss", "Salt Years")
OTHER = PlantedWork("Kirby", "mill", "Ben Thorne", "Low Water")


def search(query: str, name: str = "search") -> str:
    return f'<think>t</think><tool_call>{{"name": "{name}", "arguments": {{"query": {query}}}}}</tool_call>'


def trajectory_of(*said: str) -> Trajectory:
    turns = [
        Turn(
            agent="search/s1", ordinal=n, kind=TurnKind.MODEL, step="act", digest="", completion=Completion(text=text, model="m")
        )
        for n, text in enumerate(said)
    ]
    return Trajectory(episode="e", turns=tuple(turns))


FIRST, SECOND, BESIDE = search('"Ashford pier"'), search('"Ada Moss"'), search('"Kirby mill"')
LISTED = ", ".join(f'"{name}"' for name in BUILDERS)
END = "<think>t</think><answer>Salt Years</answer>"


@pytest.mark.parametrize(
    ("said", "score"),
    [
        ((FIRST, SECOND, END), 1.0),
        ((FIRST, END), 0.5),
        ((END,), 0.0),
        ((search('["Ashford pier", "Ada Moss"]'),), 1.0),
        ((FIRST, BESIDE), 0.25),
        ((FIRST, SECOND, SECOND), 2 / 3),
        ((search(f"[{LISTED}]"),), 1 / 2 * 1 / len(BUILDERS)),
        ((search(f"[{LISTED}]"), search(f"[{LISTED}]"), FIRST), 2 / (2 * len(BUILDERS) + 1)),
        ((FIRST, SECOND, search('"Ada Moss"', "lookup")), 2 / 3),
        ((FIRST.removesuffix("</tool_call>"), SECOND), 0.25),
        ((FIRST.replace("<think>t</think>", "So: "), SECOND), 0.25),
        ((search('"nothing of the kind"'), FIRST), 0.25),
    ],
)
def test_calls_in_form_that_find_the_entities_are_counted(said: tuple[str, ...], score: float, tmp_path: Path) -> None:
    record_tape([WORK, OTHER]).save(tmp_path / TAPE)
    assert count_search(trajectory_of(*said)).rate(WORK, read_findings(tmp_path / TAPE))["score"] == pytest.approx(score)


@pytest.mark.parametrize("query", ["{}", '""', "[]", "[1]", '"a", "k": 2'])
def test_a_call_without_a_plain_query_is_out_of_form(query: str) -> None:
    assert read_queries(search(query)) == ()


def test_probes_see_calls_beside_names_in_thoughts_and_repetitions(tmp_path: Path) -> None:
    record_tape([WORK, OTHER]).save(tmp_path / TAPE)
    guess = SECOND.replace("<think>t", f"<think>It may be {BUILDERS[3]}")
    searches = [(count_search(trajectory_of(*said)), WORK) for said in ((FIRST, BESIDE, guess, SECOND), ("<answer>no</answer>",))]
    probes = probe_searches(searches, read_findings(tmp_path / TAPE))
    assert probes == pytest.approx({"length": 1 / 4, "keywords": 0.25, "echo": 0.25}), (
        "who asks nothing has no part in the shares"
    )


def test_the_searcher_of_the_mix_errs_in_the_products_chain(tmp_path: Path) -> None:
    learned, held_out = plant_works(0)
    assert not {work.query for work in learned} & {work.query for work in held_out}
    record_tape(learned).save(tmp_path / TAPE)
    findings = read_findings(tmp_path / TAPE)

    def open_searcher(seed: int) -> ScriptedModel:
        return ScriptedModel(ErringSearcher(learned, random.Random(seed)))

    config = describe_rl(Path(TINY), tmp_path / TAPE, 0, FORM_ALONE, Start())
    rollouts = asyncio.run(sample_searches(config, tmp_path, learned, open_searcher))
    assert {rollout.end for rollout in rollouts} == {RolloutEnd.FINISHED, RolloutEnd.CAPPED}
    scores = [
        count_search(rollout.trajectory).rate(work, findings)["score"] for rollout, work in zip(rollouts, learned, strict=True)
    ]
    assert 0.15 < fmean(scores) < 0.6
    assert {0.0, 1.0} <= set(scores)
    told = [message.content for turn in rollouts[0].trajectory.turns[:1] for message in turn.messages]
    rest = "".join(told)
    for phrase in sorted(list_phrases(told), key=len, reverse=True):
        rest = rest.replace(phrase, "")
    assert len(rest) < 20
