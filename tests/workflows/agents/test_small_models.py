"""A model with a small context gets short prompts, fewer fields to fill, and no more text than fits."""

from dataclasses import replace

import pytest

from app.domain.options import ReportStyle, Tone
from app.domain.query import Effort, Language, ResearchQuery
from tests.workflows.agent_kit import PROMPTS, make_kit, make_record, run_chain, step_of
from tests.workflows.sensible_model import answer_sensibly
from workflows.agents.codec import SchemaCodec, TagCodec
from workflows.agents.effort import bounds_of, fit_bounds, is_small
from workflows.agents.kit import Kit
from workflows.chat_models.scripted import ScriptedModel
from workflows.prompts.library import SHORT

CONTEXT = 8_192


def make_small_kit(model: ScriptedModel, language: Language = Language.ENGLISH) -> Kit:
    bounds = fit_bounds(bounds_of(ResearchQuery(question="x?", effort=Effort.QUICK)), CONTEXT, language)
    kit = make_kit(model, make_record(), codec=SchemaCodec(short=True), bounds=bounds, language=language)
    return replace(kit, prompts=PROMPTS.choose_versions(SHORT))


@pytest.mark.parametrize("style", [None, ReportStyle(tone=Tone.PLAIN)])
async def test_a_small_model_is_asked_shortly_and_for_less(style: ReportStyle | None) -> None:
    model, usual = ScriptedModel(answer_sensibly), ScriptedModel(answer_sensibly)
    kit, record = make_small_kit(model), make_record()
    report = await run_chain(kit, record, "Why were tariffs raised?", style=style)
    assert report.quotes
    assert report.sections[0].heading == "Summary"
    fields = {step_of(r): set(r.response_schema.schema_["properties"]) for r in model.requests if r.response_schema}
    assert fields["act"] == {"action", "inputs"}
    assert fields["intent"] == {"goal", "must_cover", "key_terms"}
    assert fields["consistency"] == {"summary", "conclusion"}
    await run_chain(make_kit(usual, make_record()), make_record(), "Why were tariffs raised?", style=style)
    short, whole = ({step_of(r): r.messages[0].content for r in m.requests} for m in (model, usual))
    for step in ("intent", "plan", "act", "outline", "text", "consistency"):
        assert len(short[step]) < 0.7 * len(whole[step]), step
    assert max(sum(len(m.content) for m in r.messages) for r in model.requests) < 4 * CONTEXT


def test_what_is_small_and_what_fits() -> None:
    assert [is_small(tokens) for tokens in (0, 8_192, 16_384, 131_072)] == [False, True, False, False]
    usual = bounds_of(ResearchQuery(question="x?"))
    assert fit_bounds(usual, 0, Language.ENGLISH) == usual
    assert fit_bounds(usual, 131_072, Language.ENGLISH) == usual
    assert (
        fit_bounds(usual, CONTEXT, Language.CHINESE).evidence_chars < fit_bounds(usual, CONTEXT, Language.ENGLISH).evidence_chars
    )


async def test_in_tags_a_small_model_is_asked_for_less_too() -> None:
    model = ScriptedModel(lambda _: "<answer>{}</answer>")
    kit = replace(make_small_kit(model), codec=TagCodec(short=True))
    await run_chain(kit, make_record(), "Why were tariffs raised?")
    intent = "\n".join(m.content for m in model.requests[0].messages)
    assert '"must_cover"' in intent
    assert '"interpretations"' not in intent
