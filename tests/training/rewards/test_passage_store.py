"""The passages that an agent was shown, read from its stored turns: each system, asked in tags and by schema."""

import json
import re
from collections.abc import Callable

import pytest

from app.domain.chat import ChatRequest
from app.domain.errors import ContextTooLong
from app.domain.evidence import Passage
from app.domain.query import ResearchQuery, SystemName
from app.domain.trajectory import Trajectory, Turn
from tests.training.rewards.test_obedient_policies import obey
from tests.workflows.agent_kit import make_kit, make_record, step_of
from tests.workflows.sensible_model import answer_sensibly
from tests.workflows.systems.one_question import QUESTION, answer_soundly, prompt_of
from training.rewards.bracketed_claims import bracketed_claims_of
from training.rewards.citations import CitedVerdict, Recall, UncitedVerdict, Verdict, citation_reward
from training.rewards.cited_claims import CitedClaim, cited_claims_of
from training.rewards.passage_store import store_of
from training.rewards.structure import format_of
from training.rewards.transcript import transcript_of
from workflows.agents.codec import SchemaCodec, StepCodec, TagCodec
from workflows.agents.observation import attributes_of
from workflows.agents.ports import ChatModel
from workflows.agents.untrusted import as_source
from workflows.chat_models.scripted import ScriptedAnswer, ScriptedModel
from workflows.systems.agent_sets import AGENTS
from workflows.systems.local import LocalStages
from workflows.systems.minddr import research
from workflows.systems.steering import PlanSteering

SNIPPET = re.compile(r'<snippet id="(p\d+)" ([^>]*)>\n(.*?)\n</snippet>', re.DOTALL)
MAIN, DIGEST, STATE, REPORT = "search/s1", "search/s1/digest", "search/s1/state", "search/s1/report"
READERS = [
    (SystemName.MINDDR, MAIN),
    (SystemName.DEEPRUBRIC, MAIN),
    (SystemName.REACT, DIGEST),
    (SystemName.MAMS, STATE),
    (SystemName.MAMS, REPORT),
]
FULL, FREE = CitedVerdict(Recall.FULL, relevant=True), UncitedVerdict(needs_citation=False)


async def run(model: ChatModel, system: SystemName, codec: StepCodec, turns: tuple[Turn, ...] = ()) -> Trajectory:
    record = make_record(turns)
    query = ResearchQuery(question=QUESTION, system=system)
    await research(query, LocalStages(AGENTS[system], make_kit(model, record, codec=codec), record, query), PlanSteering())
    return record.trajectory


async def run_system(system: SystemName, codec: StepCodec) -> Trajectory:
    by_schema = answer_sensibly if system is SystemName.MINDDR else answer_soundly
    return await run(ScriptedModel(by_schema if isinstance(codec, SchemaCodec) else obey), system, codec)


def read_messages(trajectory: Trajectory, agent: str) -> str:
    return "\n".join(message.content for turn in trajectory.turns if turn.agent == agent for message in turn.messages)


def assert_shown(store: dict[str, Passage], read: str) -> None:
    """Compare with the prompts themselves: each id names the passage whose source and words stood under it."""
    snippets = SNIPPET.findall(read)
    assert snippets
    for short, attributes, words in snippets:
        assert attributes == attributes_of(store[short])
        assert as_source(store[short].text).startswith(words) or words.startswith("(")  # or: shown above
    assert set(store) == {short for short, _, _ in snippets}


@pytest.mark.parametrize("codec", [TagCodec(), SchemaCodec()], ids=["tags", "schema"])
@pytest.mark.parametrize(("system", "agent"), READERS)
async def test_ids_name_what_stood_under_them(system: SystemName, agent: str, codec: StepCodec) -> None:
    trajectory = await run_system(system, codec)
    store = store_of(trajectory, agent)
    assert_shown(store, read_messages(trajectory, agent))
    assert "p99" not in store
    assert not store_of(trajectory, "search/s9")


@pytest.mark.parametrize(("system", "agent"), READERS)
async def test_stored_turns_and_a_replay_of_them_name_the_same_passages(system: SystemName, agent: str) -> None:
    first = await run_system(system, SchemaCodec())
    kept = tuple(Turn.of_any_version(turn.model_dump_json(exclude_defaults=True)) for turn in first.turns)
    again = await run(ScriptedModel([]), system, SchemaCodec(), kept)
    expected = store_of(first, agent)
    assert store_of(Trajectory(episode="kept", turns=kept), agent) == expected
    assert store_of(again, agent) == expected


def read_one_passage_a_time(request: ChatRequest) -> ScriptedAnswer:
    """Search for two things; the digest cites the first passage only."""
    if "hand on what bears" in prompt_of(request):
        return "The tariff brought revenue [p1]. Nothing else bears on it [p77]."
    return answer_soundly(request)


async def test_the_agent_of_react_was_shown_what_its_digests_cite() -> None:
    trajectory = await run(ScriptedModel(read_one_passage_a_time), SystemName.REACT, SchemaCodec())
    assert set(store_of(trajectory, MAIN)) == {"p1"}
    assert len(store_of(trajectory, DIGEST)) > 1
    assert store_of(trajectory, MAIN)["p1"] == store_of(trajectory, DIGEST)["p1"]


def lose_context(request: ChatRequest) -> ScriptedAnswer:
    if step_of(request) == "act" and "[p1]" in prompt_of(request):
        return ContextTooLong("2048 tokens at most")
    return read_one_passage_a_time(request)


async def test_a_report_over_the_passages_alone_was_shown_them_all() -> None:
    trajectory = await run(ScriptedModel(lose_context), SystemName.REACT, SchemaCodec())
    assert store_of(trajectory, MAIN) == store_of(trajectory, DIGEST)
    assert len(store_of(trajectory, MAIN)) > 1


async def test_turns_of_before_are_read_and_name_nothing() -> None:
    trajectory = await run_system(SystemName.DEEPRUBRIC, TagCodec())
    bare = [turn.model_dump(mode="json", exclude_defaults=True) for turn in trajectory.turns]
    for message in (message for turn in bare for message in turn.get("messages", ())):
        message.pop("shown", None)
    turns = tuple(Turn.of_any_version(turn) for turn in bare)
    assert transcript_of(Trajectory(episode="old", turns=turns), MAIN).answer
    assert not store_of(Trajectory(episode="old", turns=turns), MAIN)


def fabricate(request: ChatRequest) -> str:
    """Obey, but cite a passage that was never shown."""
    return (
        obey(request)
        .replace("revenue [p1].", "revenue [p1], said a wise old king [p99].")
        .replace("revenue.</cite>", 'revenue</cite>, <cite id="p99">said a wise old king</cite>.')
    )


def answer_of_finding(said: str) -> str:
    return str(json.loads(said)["answer"])


# As published, a heading needs no citation and is worth 1; of the cited claims one is worth 1, the other 0. One of two ids
# exists; both claims have four words and 18 characters. The valid citation stands behind the headings, and 31 + 2 + 20 + 1
# characters follow. Eq. 13 is 1/2 (0.7 + 0.1 * 0.6 (1 - 2 |x - 1/2|) + 0.2 / 6), where x < 1/2 is its place.
def worked_by_hand(headings: str) -> float:
    worth, place = headings.count("# "), len(headings) / (len(headings) + 54)
    return 0.6 * (worth + 1) / (worth + 2) + 0.4 * 0.5 * (0.7 + 0.06 * 2 * place + 0.2 / 6)


@pytest.mark.parametrize(
    ("system", "agent", "read_claims", "headings"),
    [
        (SystemName.DEEPRUBRIC, MAIN, cited_claims_of, "# Tariffs\n\n"),
        (SystemName.REACT, MAIN, bracketed_claims_of, "# Tariffs\n\n## Reasons\n\n"),
        (SystemName.MAMS, REPORT, bracketed_claims_of, "# Tariffs\n\n## Reasons\n\n"),
    ],
)
async def test_eq_14_from_stored_turns(
    system: SystemName, agent: str, read_claims: Callable[[str], list[CitedClaim]], headings: str
) -> None:
    trajectory = await run(ScriptedModel(fabricate), system, TagCodec())
    store, transcript = store_of(trajectory, agent), transcript_of(trajectory, agent)
    claims = read_claims(transcript.answer)
    verdicts: list[Verdict | None] = [*(FREE for claim in claims if not claim.cited), FULL, None]
    assert [claim.ids for claim in claims if claim.cited] == [claim.ids for claim in claims[-2:]] == [("p1",), ("p99",)]
    assert citation_reward(claims, verdicts, store, published=True) == pytest.approx(worked_by_hand(headings))
    assert format_of(transcript, store, claims).cites
    assert not format_of(transcript, store.keys() - {"p1"}, claims).cites


async def test_eq_14_of_a_finding() -> None:
    model = ScriptedModel(lambda request: re.sub(r"reasons \[[^\]]*\]", "reasons [p1]", obey(request)))
    trajectory = await run(model, SystemName.MINDDR, TagCodec())
    claims = bracketed_claims_of(answer_of_finding(transcript_of(trajectory, MAIN).answer))
    assert [(claim.text, claim.ids) for claim in claims] == [("It had reasons.", ("p1",))]
    # Three words are no claim with a meaning, so the format is worth nothing.
    assert citation_reward(claims, [FULL], store_of(trajectory, MAIN), published=True) == pytest.approx(0.6)
