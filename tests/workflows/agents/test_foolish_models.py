"""Whatever a model answers within the schemas, every agent finishes with valid nouns and no invented citation survives."""

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.budget import AgentLimits
from app.domain.citations import CitationStore
from app.domain.query import Language
from app.domain.report import Report
from app.domain.trajectory import TurnKind
from tests.workflows.agent_kit import make_kit, make_record, run_chain
from tests.workflows.random_answers import RandomAnswers
from tests.workflows.small_corpus import TEXTS, SmallCorpus
from workflows.agents.codec import SchemaCodec, StepCodec, TagCodec
from workflows.chat_models.scripted import ScriptedModel
from workflows.tools.toolbox import ToolCorpora

QUESTION = "How did presidents justify tariffs before 1900?"
HEADING = re.compile(r"^ {0,3}#{1,6}(\s|$)", re.MULTILINE)
ADDRESS = re.compile(r"https?://|\]\(|www\.")


def check(report: Report, corpus: SmallCorpus) -> None:
    """Every citation resolves to words that stand in a stored source; nothing else looks like a citation."""
    store = CitationStore(report.quotes)
    for quote in report.quotes:
        assert corpus.text_of(quote.source.snapshot)[quote.start : quote.end] == quote.text
    body = "\n".join(f"{section.heading}\n{section.body}" for section in report.sections)
    numbered = store.number(body)
    assert numbered.unresolved == ()
    assert {int(n) for n in re.findall(r"\[(\d+)\]", numbered.text)} <= {c.n for c in numbered.citations}
    assert not ADDRESS.search(numbered.text), "an address of the model's own making reached the reader"
    assert report.sections
    assert all(section.heading.strip() for section in report.sections)
    assert not HEADING.search("\n".join(section.body for section in report.sections))


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32), scholar=st.booleans(), chinese=st.booleans())
async def test_any_schema_valid_answer_ends_in_a_valid_report(seed: int, scholar: bool, chinese: bool) -> None:
    model, record, corpus = ScriptedModel(RandomAnswers(random.Random(seed))), make_record(), SmallCorpus()
    kit = make_kit(
        model,
        record,
        corpus,
        limits=AgentLimits(max_turns=3, max_tool_calls=5),
        corpora=ToolCorpora(scientific=("papers",) if scholar else ()),
        language=Language.CHINESE if chinese else Language.ENGLISH,
    )
    check(await run_chain(kit, record, QUESTION), corpus)
    browsed = [
        t.call.arguments["url"] for t in record.trajectory.turns if t.kind is TurnKind.TOOL and t.call and t.call.name == "browse"
    ]
    assert set(browsed) <= set(TEXTS), "a made-up address was fetched"


@settings(max_examples=60)
@given(text=st.text(max_size=400), tags=st.booleans())
async def test_any_text_at_all_ends_in_a_valid_report(text: str, tags: bool) -> None:
    codec: StepCodec = TagCodec() if tags else SchemaCodec()
    record, corpus = make_record(), SmallCorpus()
    kit = make_kit(ScriptedModel(lambda _: text), record, corpus, codec=codec, limits=AgentLimits(max_turns=2))
    check(await run_chain(kit, record, QUESTION), corpus)


@pytest.mark.parametrize(
    "answer", ["", " ", "null", "[]", "{}", "0", '""', "{" * 5_000, "<think>", "</answer>", "```json\n```", "\ud7ff"]
)
async def test_degenerate_answers_end_in_a_report_that_says_so(answer: str) -> None:
    record, corpus = make_record(), SmallCorpus()
    report = await run_chain(make_kit(ScriptedModel(lambda _: answer), record, corpus), record, QUESTION)
    check(report, corpus)
    assert report.quotes, "what the searches found was lost"
    assert report.notices
