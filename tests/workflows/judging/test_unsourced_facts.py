"""A fact that nothing cited gives is marked, wherever in the report it stands."""

import json
from datetime import date

import pytest

from app.domain.citations import REMOVED, marker_of
from app.domain.claims import Support
from app.domain.evidence import Quote
from app.domain.query import Language
from app.domain.report import Report
from app.settings import ClaimGrader
from tests.workflows.judging.test_report_verification import PROTECT, SURPLUS, Weights, a_report, check, verdict
from workflows.chat_models.scripted import ScriptedModel
from workflows.judging.second_look import Judges

CITED = f"{PROTECT.text} {marker_of(PROTECT)}"


def marked(report: Report) -> list[str]:
    return [claim.text for claim in report.claims if claim.unsourced]


@pytest.mark.parametrize(
    "sentence",
    [
        "It had 35 million dollars of capital.",
        "The duty on wool was raised by 12% within the year.",
        "Later the bank of Nicholas Biddle closed its doors.",
        f"Wages fell soon after {REMOVED}.",
        "The bank was then founded by Roosevelt.",
        "Turkey accounts for most of Gazprom exports.",
        "The question of slavery divided Kansas.",
        "The evidence shows that Roosevelt founded the bank.",
    ],
)
async def test_a_fact_without_a_citation_is_marked_in_any_section(sentence: str) -> None:
    report = await check(a_report(sentence, f"{CITED}\n\n{sentence}", f"- {CITED}\n- {sentence}"))
    plain = sentence.replace(f" {REMOVED}", "")
    assert marked(report) == [plain] * 3
    assert all(c.reason for c in report.claims if c.unsourced)
    assert "3 statements are marked ¶" in report.notices[-1]


@pytest.mark.parametrize(
    "sentence",
    [
        "This section weighs two accounts of the matter.",
        "What remains open is how far prices followed.",
        "The evidence on the senators of the South is thin.",
        "Did the makers of the North gain 12% from it?",
        "The president gave several reasons, as these passages show:",
        "There are several further points to consider.",
        "No source says who paid the duty.",
        "Most accounts differ on this.",
        "Aspirin causes ulcers in most patients.",
        "The sources of the river lie in the hills.",
        "Three turning points stand out.",
        "They disagreed about who should police bigness.",
        "The report covers wages, prices and the revenue.",
        "另一方面，还有以下几个问题值得注意。",
        "本节讨论关税的目的与影响。",
        "现有资料对工资的影响说法不一。",
        "关税是否提高了工资？",
    ],
)
async def test_a_sentence_without_a_name_or_number_is_not_marked(sentence: str) -> None:
    report = await check(a_report(sentence, f"{CITED}\n\n{sentence}"))
    assert marked(report) == []
    assert report.notices == ()


async def test_a_fact_before_a_citation_that_does_not_give_it_is_marked() -> None:
    report = await check(a_report(f"The makers of Gazprom objected. {CITED}", f"The bill was vetoed 38 times. {CITED}"))
    assert marked(report) == ["The makers of Gazprom objected.", "The bill was vetoed 38 times."]


async def test_what_its_paragraph_cites_elsewhere_is_not_marked() -> None:
    first = f"In 1888 the treasury had 12 million dollars too many. Makers objected {marker_of(PROTECT)}."
    told = f"{first} The surplus embarrassed the treasury {marker_of(SURPLUS)}."
    apart = f"In 1888 it had 12 million too many.\n\nThe treasury's surplus {marker_of(SURPLUS)}."
    assert marked(await check(a_report(told))) == []
    assert marked(await check(a_report(apart))) == ["In 1888 it had 12 million too many."]


@pytest.mark.parametrize(
    "topic",
    [
        "The tariff was first of all meant to protect manufactures.",
        "Several reasons stand out here.",
        "Makers at home came first.",
    ],
)
async def test_a_sentence_that_sums_up_the_cited_ones_after_it_leans_on_them(topic: str) -> None:
    cited = f"At home, makers of goods were to be protected by the law {marker_of(PROTECT)}."
    report = await check(a_report(f"{topic} {cited}"))
    assert marked(report) == []


async def test_a_report_that_found_nothing_has_nothing_to_cite() -> None:
    assert marked(await check(a_report("- the revenue of the tariff of 1824", quotes=()))) == []


async def test_a_number_that_its_citation_lacks_is_marked_before_and_at_the_citation() -> None:
    wrong = "The treasury had a surplus of 95 million dollars in 1888"
    report = await check(
        a_report(
            f"{wrong} {marker_of(SURPLUS)}.",
            f"{wrong}. It was the treasury's surplus {marker_of(SURPLUS)}.",
            f"| Year | Surplus of the treasury |\n|---|---|\n| 1888 {marker_of(SURPLUS)} | surplus of 95 million dollars |",
        )
    )
    warned = {c.section for c in report.claims if c.unsourced or c.support in (Support.NONE, Support.CONTRADICTED)}
    assert warned == {0, 1, 2}
    assert any("95,000,000" in c.reason for c in report.claims if c.section == 1)


FIGURES = "| Year | Surplus (dollars) | Share |\n|---|---|---|\n"


@pytest.mark.parametrize("wrong", ["35,000,000", "95", "14%", "$95"])
async def test_a_figure_of_a_table_that_its_citation_lacks_is_marked(wrong: str) -> None:
    cited, row = f"{wrong} {marker_of(SURPLUS)}", f"{wrong} | {marker_of(SURPLUS)}"
    report = await check(a_report(f"{FIGURES}| 1888 | {cited} | |", f"{FIGURES}| 1888 | {row} |", f"{FIGURES}| | {wrong} | |"))
    warned = [c for c in report.claims if c.unsourced or c.support in (Support.NONE, Support.CONTRADICTED)]
    assert [(c.section, c.text) for c in warned] == [(0, wrong), (1, wrong), (2, wrong)]
    assert all(c.reason for c in warned)


async def test_a_figure_of_a_table_that_its_citation_gives_is_not_marked() -> None:
    dated = SURPLUS.model_copy(update={"source": SURPLUS.source.model_copy(update={"published": date(1889, 3, 14)})})
    rows = (f"| 1888 | 12,000,000 {marker_of(dated)} | 5 |", f"| 1889-03-14 | 12,000,000 dollars | {marker_of(dated)} |")
    report = await check(
        a_report(*(f"{head}{row}" for row in rows for head in (FIGURES, "| | | |\n|---|---|---|\n")), quotes=(dated,))
    )
    assert report.claims
    assert marked(report) == []
    assert report.notices == ()


async def test_a_judge_sees_a_figure_under_its_head() -> None:
    model = ScriptedModel(lambda _: verdict(verdict="full"))
    await check(a_report(f"{FIGURES}| | 12,000,000 {marker_of(SURPLUS)} | |"), Judges(second=ClaimGrader.MODEL), model)
    asked = model.requests[0].messages[-1].content
    assert asked.index("Surplus (dollars)") < asked.index(">12,000,000</s>")


async def test_a_sentence_wholly_in_bold_is_checked() -> None:
    wrong = "The treasury had a surplus of 95 million dollars in 1888."
    report = await check(a_report(f"**{wrong}**\n\n**Surplus in 1888**\n\n{CITED}"))
    assert marked(report) == [wrong]


async def test_numbers_that_the_next_citation_or_the_tables_row_gives_are_not_marked() -> None:
    right = "The treasury had a surplus of 12 million dollars in 1888"
    report = await check(
        a_report(
            f"{right}. It was the treasury's surplus {marker_of(SURPLUS)}.",
            f"| Year | Surplus of the treasury |\n|---|---|\n| 1888 {marker_of(SURPLUS)} | surplus of 12 million dollars |",
        )
    )
    assert marked(report) == []


@pytest.mark.parametrize(
    "sentence", ["该银行拥有3500万美元的资本。", "罗斯福总统于是建立了国家银行。", "资料表明罗斯福建立了国家银行。"]
)
async def test_a_chinese_fact_without_a_citation_is_marked(sentence: str) -> None:
    report = await check(a_report(sentence), language=Language.CHINESE)
    assert len(marked(report)) == 1
    assert "¶" in report.notices[-1]


@pytest.mark.parametrize(("judge", "grader", "marked"), [("model", ClaimGrader.MODEL, False), ("nli", ClaimGrader.NLI, True)])
async def test_a_missing_number_is_marked_unless_a_model_found_it(judge: str, grader: ClaimGrader, marked: bool) -> None:
    wrong = f"The treasury had a surplus of 95 million dollars in 1888 {marker_of(SURPLUS)}."
    model = ScriptedModel(lambda _: verdict(verdict="full"))
    (claim,) = (await check(a_report(wrong), Judges(Weights(entailed=0.99), grader), model)).claims
    assert (claim.judge, claim.unsourced) == (judge, marked)
    assert claim.support is (Support.PARTIAL if marked else Support.FULL)
    assert ("95,000,000" in claim.reason) is marked


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ({"remark": [1, 2]}, []),
        ({"remark": [1]}, ["The messages of Taft were not found."]),
        (
            {"remark": [1, 2], "others": [{"id": 2, "verdict": "none", "reason": "Not said."}]},
            ["The messages of Taft were not found."],
        ),
        (
            {"full": [{"id": 2}], "others": [{"id": 1, "verdict": "contradicted", "reason": "One."}]},
            ["There are several points."],
        ),
        ({"full": [{"id": 2}], "others": [{"id": 1, "verdict": "partial", "reason": "Some."}]}, []),
    ],
)
async def test_a_model_says_what_of_uncited_sentences_nothing_gives(said: object, wrong: list[str]) -> None:
    model = ScriptedModel(lambda _: json.dumps(said))
    plain = f"{CITED}\n\nThere are several points. The messages of Taft were not found."
    report = await check(a_report(plain), Judges(second=ClaimGrader.MODEL), model)
    assert marked(report) == wrong


async def find_reasons(figure: str, source: str) -> list[str]:
    """Return why numbers of a statement are marked that was found to be supported."""
    said = Quote(source=PROTECT.source, text=source, start=0, end=len(source))
    report = a_report(f"The army of the country had {figure} at that time {marker_of(said)}.", quotes=(said,))
    judged = await check(report, Judges(Weights(entailed=0.99), ClaimGrader.NLI))
    return [claim.reason for claim in judged.claims if claim.unsourced]


@pytest.mark.parametrize(
    ("figure", "source"),
    [
        ("25,000 men", "The army consists of twenty-five thousand men."),
        ("twenty-five thousand men", "The army consists of 25,000 men."),
        ("twenty-five thousand men", "The army consists of twenty-five thousand men."),
        ("20 to 30 ships", "The army has between twenty and thirty ships."),
        ("150 ships", "The army has one hundred and fifty ships."),
        ("a budget of 40 million dollars", "The army costs forty millions of dollars."),
        ("a budget of $4.2bn", "The army costs 4.2 billion dollars."),
        ("2.5 million men", "The army consists of two and a half million men."),
        ("50% of all men", "Half of all men are in the army."),
        ("half of all men", "50% of all men are in the army."),
        ("half a loaf a day", "The army gets half a loaf a day."),
        ("45% of all men", "Forty-five percent of all men are in the army."),
        ("25-year-old guns", "The guns of the army are twenty-five years old."),
        ("roads of 25 km", "The army has 25,000 metres of roads."),
        ("drills of 30 minutes", "The army drills for half an hour."),
        ("rules of the 19th century", "The army has rules of the nineteenth century."),
        ("1,200 men", "The army consists of 1 200 men."),
        ("several hundred men", "The army consists of several hundred men."),
        ("25 men", "军队共有二十五人。"),
        ("a reform in the 1990s", "军队在20世纪90年代改革。"),
        ("a reform in 2021", "The army was reformed in 2019–21."),
        ("a budget of $102.3 million", "The army costs $102,316,152.99."),
        ("some 48% of all men", "Of all men 47.6% are in the army."),
        ("in all 98 ships", "The army has 45 ships, the navy has 30 ships, and the customs have 23 ships."),
        ("together 75 ships", "The army has 45 ships, and the navy has 30 ships."),
        ("one man in service for 12.5% of the budget", "The army costs 25 dollars of the 200 dollars that there are."),
        ("reforms from 1919 to 1922", "The army was reformed in 1920."),
    ],
)
async def test_a_number_that_the_source_writes_otherwise_is_not_marked(figure: str, source: str) -> None:
    assert await find_reasons(figure, source) == []


@pytest.mark.parametrize(
    ("figure", "source", "missing"),
    [
        ("24,000 men", "The army consists of twenty-five thousand men.", "24,000"),
        ("20 men", "The army consists of twenty-five thousand men.", "20"),
        ("25 men", "The army consists of twenty-five thousand men.", "25"),
        ("forty-five thousand men", "The army consists of forty-six thousand men.", "45,000"),
        ("50 ships", "The army has between twenty and thirty ships.", "50"),
        ("100 ships", "The army has two hundred ships.", "100"),
        ("50 men", "Half of all men are in the army.", "50"),
        ("half of all men", "Of all men 50 are in the army.", "0.5"),
        ("50% of all men", "The army marched for a year and a half.", "50%"),
        ("45% of all men", "The army consists of forty-five thousand men.", "45%"),
        ("1 million men", "The army consists of several million men.", "1,000,000"),
        ("1 million men", "The army consists of a million and a half men.", "1,000,000"),
        ("a budget of 40 million dollars", "The army costs forty billions of dollars.", "40,000,000"),
        ("800 million men", "The army grew from 800 to 1.2 million men.", "800,000,000"),
        ("25,000 men", "The army has 25 km of roads.", "25,000"),
        ("19 men", "The army has rules of the nineteenth century.", "19"),
        ("1 200 men", "The army consists of 200 men.", "1,200"),
        ("26 men", "军队共有二十五人。", "26"),
        ("a reform in the 1980s", "军队在20世纪90年代改革。", "1,980"),
        ("a reform in 2020", "The army was reformed in 2019–21.", "2,020"),
    ],
)
async def test_another_number_than_the_source_spells_is_marked(figure: str, source: str, missing: str) -> None:
    (reason,) = await find_reasons(figure, source)
    assert f"does not give {missing}." in reason
