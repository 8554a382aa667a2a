"""`python -m bench.transcripts`: compare the rewards of scripted policies with values that were worked by hand.

Each of the four systems runs over a small corpus with an obedient policy and with twelve that each disobey in one way, asked in
tags and by a schema (DeepRubric's agent writes tags always). The rewards of their transcripts are compared with
bench/transcripts.toml. Citation ids, relevances and judges' verdicts are given, not asked for. MindDR's own report, which its
writers assemble from sections, is no output of one agent; the rewards of a report are taken of the other three.

`systems` have a transcript of every policy; `mismatches` are the rewards that differ by more than a millionth.
"""

import asyncio
import math
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from app.domain.query import ResearchQuery, SystemName
from app.domain.trajectory import Trajectory
from bench.result import print_result
from bench.transcript_policies import HALF_SUPPORTED, SUPPORTED, Policy, list_policies
from tests.workflows.agent_kit import make_kit, make_record
from tests.workflows.agents.scripted_search import search_subtask
from tests.workflows.systems.one_question import QUESTION
from training.rewards.against_reference import CountedCitation, count_citations, list_citations, reference_citation_reward
from training.rewards.citations import CitedVerdict, Recall, UncitedVerdict, Verdict, citation_reward, judged_groups_of
from training.rewards.cited_claims import CitedClaim, cited_claims_of
from training.rewards.entities import Entity, entity_coverage
from training.rewards.notations import Notation
from training.rewards.structure import format_of, search_reward, step_format_rewards, tool_rewards
from training.rewards.transcript import Transcript, transcript_of
from training.rewards.violations import violations_of
from workflows.agents.codec import SchemaCodec, TagCodec
from workflows.chat_models.scripted import ScriptedModel
from workflows.systems.agent_sets import AGENTS
from workflows.systems.local import LocalStages
from workflows.systems.minddr import research
from workflows.systems.steering import PlanSteering

EXPECTED = Path(__file__).with_name("transcripts.toml")
OBEDIENT = "obedient"
SEARCHER, WRITER = "search/s1", "search/s1/report"
STORE = ("p1", "p2", "p3")
ENTITIES = (Entity("domestic manufactures"), Entity("Panama"))
SUPPORT = {SUPPORTED: (Recall.FULL, "p1"), HALF_SUPPORTED: (Recall.PARTIAL, "p2")}
REFERENCE_CITATIONS, THRESHOLD = 2, 0.5
TOLERANCE = 1e-6


async def run_policy(system: SystemName, notation: Notation, policy: Policy) -> Trajectory:
    """Run a system, or MindDR's search agent, with a policy."""
    record, model = make_record(), ScriptedModel(policy.write)
    codec = TagCodec() if notation is Notation.TAGS else SchemaCodec()
    if system is SystemName.MINDDR:
        await search_subtask(model, record=record, codec=codec)
    else:
        query = ResearchQuery(question=QUESTION, system=system)
        kit = make_kit(model, record, codec=codec)
        await research(query, LocalStages(AGENTS[system], kit, record, query), PlanSteering())
    return record.trajectory


def measure_rewards(system: SystemName, notation: Notation, trajectory: Trajectory) -> dict[str, list[float]]:
    """Compute every reward of a trajectory; each as a list."""
    searching = transcript_of(trajectory, SEARCHER, notation=notation)
    writing = transcript_of(trajectory, WRITER, notation=notation) if system is SystemName.MAMS else searching
    found = {
        "tool": tool_rewards(searching.steps),
        "form": step_format_rewards(searching.steps),
        "format": [format_of(searching, STORE).reward],
        "search": [search_reward(searching)],
        "entities": [entity_coverage(searching, ENTITIES)],
    }
    if system is not SystemName.MINDDR:
        found |= {"reference": [reward_reference(writing)], "violations": [violations_of(writing, STORE).reward]}
    if system is SystemName.DEEPRUBRIC:
        claims = cited_claims_of(writing.answer)
        found["citation"] = [citation_reward(claims, [give_verdict(claim) for claim in claims], STORE)]
    return found  # type: ignore[return-value]


def reward_reference(transcript: Transcript) -> float:
    """Return MindDR Eq. 10; a citation is relevant when its source is the one that supports its statement."""
    supports = {(text[:-1], name) for text, (_, name) in SUPPORT.items()}
    counted = [
        CountedCitation(statement, name, 0.9 if any(said in statement and name == of for said, of in supports) else 0.1)
        for statement, name in list_citations(transcript.answer)
    ]
    return reference_citation_reward(*count_citations(counted, THRESHOLD), REFERENCE_CITATIONS)


def give_verdict(claim: CitedClaim) -> Verdict:
    """Return the judges' verdict on a claim."""
    if not claim.cited:
        return UncitedVerdict(needs_citation=False)
    recall, source = SUPPORT[claim.text]
    return CitedVerdict(recall, sum(source in group for group in judged_groups_of(claim, STORE)))


def expect_rewards(values: Mapping[str, Any], policy: str, system: SystemName, notation: Notation) -> dict[str, list[float]]:
    """Return the values worked by hand for a policy: its own, else those of the obedient one."""
    own = values.get(policy, {})
    merged = values[OBEDIENT] | own | (own.get("schema", {}) if notation is Notation.SCHEMA else {})
    chosen: dict[str, Any] = {
        name: value.get(system.value) if isinstance(value, dict) else value for name, value in merged.items() if name != "schema"
    }
    last = chosen["last"] if system is not SystemName.MAMS and chosen["last"] else []
    listed = {name: value if isinstance(value, list) else [value] for name, value in chosen.items()}
    return listed | {"tool": [*chosen["tool"], *[0.0] * len(last)], "form": [*chosen["form"], *last]}


def find_mismatches(found: Mapping[str, list[float]], expected: Mapping[str, list[float]]) -> Iterator[str]:
    """Yield what differs."""
    for name, values in found.items():
        asked = expected[name]
        same = len(values) == len(asked) and all(
            math.isclose(a, b, abs_tol=TOLERANCE) for a, b in zip(values, asked, strict=True)
        )
        if not same:
            yield f"{name} is {values}, by hand {asked}"


async def run() -> None:
    """Run every policy in every system and notation."""
    expected = tomllib.loads(EXPECTED.read_text())
    names = [policy.name for policy in list_policies()]
    assert expected.keys() <= {*names}, "a policy of the file does not exist"
    compared = mismatches = 0
    for system in SystemName:
        for notation in [Notation.TAGS] if system is SystemName.DEEPRUBRIC else Notation:
            for policy in list_policies():
                found = measure_rewards(system, notation, await run_policy(system, notation, policy))
                for differing in find_mismatches(found, expect_rewards(expected, policy.name, system, notation)):
                    mismatches += 1
                    print(f"{system.value}, {notation.value}, {policy.name}: {differing}")
                compared += len(found)
    print(f"{compared} rewards of {len(names)} policies compared")
    print_result("transcripts", {"systems": len(SystemName), "mismatches": mismatches})


if __name__ == "__main__":
    asyncio.run(run())
