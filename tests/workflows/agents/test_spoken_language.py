"""Each prompt names the language of the answer, where that is not the language of the prompts."""

import pytest

from app.domain.query import Language, ResearchQuery, detect_language
from workflows.agents.codec import SchemaCodec, StepCodec, TagCodec, speak_as_asked
from workflows.agents.planning import PLAN
from workflows.agents.reporting.whole_prompt import WHOLE_REPORT
from workflows.prompts.library import PromptLibrary

PROMPTS = PromptLibrary.load()
IN = "Write in"


def describe_forms(question: str, codec: StepCodec, chosen: bool = False) -> list[str]:
    language = detect_language(question)
    query = ResearchQuery(question=question, language=language, language_chosen=chosen)
    spoken = speak_as_asked(codec, query)
    return [spoken.describe_form(step, PROMPTS, language) for step in (PLAN, WHOLE_REPORT)]


@pytest.mark.parametrize("codec", [SchemaCodec(), SchemaCodec(short=True), TagCodec()])
@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("Warum ist der Leuchtturm am Kap erloschen?", "German"),
        ("灯台はなぜ消えたのですか", "Japanese"),
        ("岬の灯台が消灯された理由", "Japanese"),
        ("등대는 왜 꺼졌습니까?", "Korean"),
        ("Pourquoi le phare est-il éteint ?", "French"),
        ("Почему погас маяк?", "the language of the question"),
        ("Dlaczego latarnia morska zgasła w 1911 roku?", "the language of the question"),
    ],
)
def test_the_language_of_the_question_is_named(question: str, named: str, codec: StepCodec) -> None:
    for form in describe_forms(question, codec):
        assert f"{IN} {named}, headings too" in form


@pytest.mark.parametrize("question", ["Why did the lighthouse go dark?", "灯塔为什么熄灭了？", "lighthouse cape 1911"])
def test_the_language_of_the_prompts_needs_no_name(question: str) -> None:
    for form in describe_forms(question, SchemaCodec()):
        assert IN not in form
        assert "书写" not in form


def test_a_language_that_the_reader_chose_stays() -> None:
    for form in describe_forms("Warum ist der Leuchtturm am Kap erloschen?", SchemaCodec(), chosen=True):
        assert IN not in form


def test_japanese_is_not_read_as_chinese() -> None:
    assert detect_language("灯台はなぜ消えたのですか") is Language.ENGLISH
    assert detect_language("日文“の”字在灯塔铭文中是什么意思？") is Language.CHINESE
