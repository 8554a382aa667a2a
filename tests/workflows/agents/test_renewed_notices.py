"""What a report says of who wrote it, after a section of it was changed."""

import pytest

from app.domain.query import Language
from app.domain.report import READER, Report, Section
from tests.workflows.judging.test_report_verification import PROTECT
from workflows.agents.reporting.brief_instead import is_brief_instead
from workflows.agents.reporting.renewed_notices import renew_notices
from workflows.agents.reporting.sections import word_quoted
from workflows.agents.wording import say

EN = Language.ENGLISH
OTHER = "The budget was reached."
WHY = "it did not answer {at all}"


def a_report(*notices: str) -> Report:
    parts = [("Why", 2), ("At sea", 3), ("How", 2)]
    sections = tuple(Section(heading=heading, level=level, body="Quoted.") for heading, level in parts)
    return Report(title="Tariffs", sections=sections, quotes=(PROTECT,), notices=(*notices, OTHER))


def change(before: Report, place: int, language: Language = EN, by: str = "m1", body: str = "New.") -> Report:
    section = before.sections[place].model_copy(update={"body": body, "changed_by": by})
    sections = (*before.sections[:place], section, *before.sections[place + 1 :])
    return renew_notices(before.model_copy(update={"sections": sections}), place, before, language)


@pytest.mark.parametrize("language", Language)
def test_a_rewritten_section_is_no_longer_named_among_the_quoted(language: Language) -> None:
    before = a_report(word_quoted(["Why", "How"], WHY, language))
    once = change(before, 2, language)
    assert once.notices == (word_quoted(["Why"], WHY, language), OTHER)
    assert change(once, 1, language).notices == (OTHER,), "a part of a section is the model's"
    assert change(before, 2, language, by="").notices == before.notices, "it is quoted again"


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("what", ["without_model", "nothing_written", "brief_instead"])
def test_a_report_of_quotes_says_that_it_was_one_only_at_first(what: str, language: Language) -> None:
    before = a_report(say(what, language, detail=WHY))
    model = change(before, 0, language)
    reader = change(model, 2, language, READER)
    assert model.notices == reader.notices == (say(f"{what}_first", language, detail=WHY), OTHER)
    assert not is_brief_instead(model, language)
    again = change(change(reader, 2, language, by=""), 0, language, by="")
    assert again.notices == before.notices, "all of it is quoted again"
