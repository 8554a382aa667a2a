"""A model with a small context only writes, by short prompts with fewer fields to fill, and no more text than fits."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from app.domain.errors import ToolError
from app.domain.evidence import Passage
from app.domain.options import ReportStyle, Tone
from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import Effort, Language, ResearchQuery
from app.domain.reading import Reading
from app.domain.writer import Composition, WriterSettings
from retrieval.ports import SearchFilter
from tests.workflows.agent_kit import PROMPTS, make_kit, make_record, run_chain, step_of
from tests.workflows.agents.scripted_report import FOUND, PLAN, QUERY, writing
from tests.workflows.sensible_model import answer_sensibly
from tests.workflows.small_corpus import SmallCorpus
from workflows.agents.codec import SchemaCodec, TagCodec
from workflows.agents.effort import SMALL_CONTEXT, bounds_of, fit_bounds, is_small
from workflows.agents.kit import Kit
from workflows.agents.model_driven import MODEL_DRIVEN, WRITING_ALONE, choose_agents
from workflows.agents.reporting import write_report
from workflows.agents.stage_memory import REPORTER
from workflows.chat_models.scripted import ScriptedModel
from workflows.prompts.library import SHORT
from workflows.systems.local import LocalStages
from workflows.systems.minddr import research
from workflows.systems.steering import PlanSteering

CONTEXT = 8_192
SECTIONS = WriterSettings(composition=Composition.SECTIONS)


def make_small_kit(model: ScriptedModel, language: Language = Language.ENGLISH) -> Kit:
    bounds = fit_bounds(bounds_of(ResearchQuery(question="x?", effort=Effort.QUICK)), CONTEXT, language)
    kit = make_kit(model, make_record(), codec=SchemaCodec(short=True), bounds=bounds, language=language)
    return replace(kit, prompts=PROMPTS.choose_versions(SHORT))


@pytest.mark.parametrize("style", [None, ReportStyle(tone=Tone.PLAIN)])
async def test_a_small_model_is_asked_shortly_and_for_less(style: ReportStyle | None) -> None:
    model, usual = ScriptedModel(answer_sensibly), ScriptedModel(answer_sensibly)
    kit, record = make_small_kit(model), make_record()
    report = await run_chain(kit, record, "Why were tariffs raised?", style=style, writer=SECTIONS)
    assert report.quotes
    assert report.sections[0].heading == "Summary"
    fields = {step_of(r): set(r.response_schema.schema_["properties"]) for r in model.requests if r.response_schema}
    assert fields["act"] == {"action", "inputs"}
    assert fields["intent"] == {"goal", "must_cover", "key_terms"}
    assert fields["consistency"] == {"summary", "conclusion"}
    await run_chain(make_kit(usual, make_record()), make_record(), "Why were tariffs raised?", style=style, writer=SECTIONS)
    short, whole = ({step_of(r): r.messages[0].content for r in m.requests} for m in (model, usual))
    for step in ("intent", "plan", "act", "outline", "text", "consistency"):
        assert len(short[step]) < 0.7 * len(whole[step]), step
    assert max(sum(len(m.content) for m in r.messages) for r in model.requests) < 4 * CONTEXT


def test_what_is_small_and_what_fits() -> None:
    assert [is_small(tokens) for tokens in (0, 8_192, 16_384, 131_072)] == [False, True, False, False]
    usual = bounds_of(ResearchQuery(question="x?"))
    rooms = {tokens: fit_bounds(usual, tokens, Language.ENGLISH) for tokens in (0, CONTEXT, 32_000, 131_072)}
    assert rooms[0] == rooms[32_000], "a context of unknown size is taken for a usual one"
    assert rooms[0].evidence_chars == usual.evidence_chars
    assert rooms[CONTEXT].evidence_chars < usual.evidence_chars < rooms[131_072].evidence_chars
    assert rooms[131_072].conversation_chars == 393_216
    assert rooms[131_072].observation_chars == usual.queries_per_action * usual.observation_chars
    assert fit_bounds(usual, CONTEXT, Language.CHINESE).evidence_chars < rooms[CONTEXT].evidence_chars


async def test_in_tags_a_small_model_is_asked_for_less_too() -> None:
    model = ScriptedModel(lambda _: "<answer>{}</answer>")
    kit = replace(make_small_kit(model), codec=TagCodec(short=True))
    await run_chain(kit, make_record(), "Why were tariffs raised?")
    intent = "\n".join(m.content for m in model.requests[0].messages)
    assert '"must_cover"' in intent
    assert '"interpretations"' not in intent


def test_a_model_with_a_small_context_only_writes() -> None:
    assert [choose_agents(tokens) for tokens in (0, 4_096, SMALL_CONTEXT - 1, SMALL_CONTEXT)] == [
        MODEL_DRIVEN,
        WRITING_ALONE,
        WRITING_ALONE,
        MODEL_DRIVEN,
    ]


async def test_a_small_model_writes_from_what_is_found_without_it() -> None:
    record = make_record()
    kit = make_kit(ScriptedModel(answer_sensibly), record)
    question = "How did presidents justify tariffs before 1900?"
    query = ResearchQuery(question=question, language=kit.language)
    report = await research(query, LocalStages(WRITING_ALONE, kit, record, query), PlanSteering())
    asked = {turn.agent.partition("/")[0] for turn in record.trajectory.turns if turn.completion}
    assert asked == {REPORTER}
    assert report.quotes


class BrokenCorpus(SmallCorpus):
    async def search(self, query: str, limit: int, where: SearchFilter) -> Sequence[Passage]:
        raise ToolError("the index is down")


async def test_what_a_search_without_the_model_could_not_do_is_told_to_the_reader() -> None:
    query = ResearchQuery(question="Why were tariffs raised?")
    part = Subtask(id="s1", title="q", question=query.question)
    kit = make_kit(ScriptedModel(answer_sensibly), make_record(), BrokenCorpus())
    finding = await WRITING_ALONE.search(part, ResearchPlan(title="q", subtasks=(part,)), query, kit)
    assert finding.notices == finding.gaps
    assert "the index is down" in finding.notices[0]


@pytest.mark.parametrize("model", [writing(), ScriptedModel(lambda _: "gibberish")], ids=["written", "quoted instead"])
async def test_a_word_of_the_question_that_was_read_otherwise_is_told_to_the_reader(model: ScriptedModel) -> None:
    plan = PLAN.model_copy(update={"readings": (Reading(written="tarrifs", read="tariffs"),)})
    report = await write_report(QUERY, plan, FOUND, make_kit(model, make_record()))
    assert [notice for notice in report.notices if "“tarrifs” was read as “tariffs”" in notice]
