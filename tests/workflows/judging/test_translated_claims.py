"""Claims in another language than what they cite, where nobody judges them but words."""

import pytest

from app.domain.citations import marker_of
from app.domain.claims import Support
from app.domain.query import Language
from app.reports.rendering.marks import text_mark_of
from app.settings import ClaimGrader
from tests.workflows.judging.test_report_verification import PROTECT, SURPLUS, a_report, check, verdict
from workflows.chat_models.scripted import ScriptedModel
from workflows.judging.second_look import Judges

ZH, EN = Language.CHINESE, Language.ENGLISH
ONE = {EN: "One statement was not checked: the passage it cites is in another language.", ZH: "有 1 处陈述未经核查"}


@pytest.mark.parametrize(
    ("sentence", "language"),
    [
        ("1888年国库有1200万美元的盈余", ZH),
        ("1888年国库没有盈余", ZH),
        ("Im Jahr 1888 hatte das Schatzamt einen Überschuss von 12 Millionen Dollar", EN),
        ("1888 war das Schatzamt wie schon in den Jahren zuvor nicht zahlungsfähig", EN),
    ],
)
async def test_words_neither_blame_a_translation_nor_call_it_supported(sentence: str, language: Language) -> None:
    report = await check(a_report(f"{sentence} {marker_of(SURPLUS)}."), language=language)
    assert report.claims[0].support is Support.UNJUDGED
    assert text_mark_of(report.claims[0]) == ""
    assert len(report.notices) == 1
    assert report.notices[0].startswith(ONE[language])


async def test_a_number_that_a_translation_does_not_have_from_its_source_is_told() -> None:
    report = await check(a_report(f"1888年国库有3500万美元的盈余 {marker_of(SURPLUS)}。"), language=ZH)
    assert report.claims[0].unsourced
    assert "35,000,000" in report.claims[0].reason


async def test_a_model_still_judges_a_translation() -> None:
    model = ScriptedModel(lambda _: verdict(verdict="full", reason=""))
    report = await check(a_report(f"关税旨在保护国内制造业 {marker_of(PROTECT)}。"), Judges(second=ClaimGrader.MODEL), model, ZH)
    assert (report.claims[0].support, report.notices) == (Support.FULL, ())
