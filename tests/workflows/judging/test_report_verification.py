"""Reports before and after their claims were held against the evidence."""

import json
from collections.abc import Sequence
from datetime import date

import pytest

from app.domain.budget import StopReason
from app.domain.citations import marker_of
from app.domain.claims import Support
from app.domain.errors import ModelRefused, ToolError
from app.domain.evidence import Finding, Passage, Quote, Source, snapshot_hash
from app.domain.query import Language
from app.domain.report import Report, Section
from app.settings import ClaimGrader
from tests.workflows.agent_kit import make_kit, make_record
from workflows.chat_models.scripted import ScriptedAnswer, ScriptedModel
from workflows.judging.context import QuoteContext
from workflows.judging.report_verification import verify_report
from workflows.judging.second_look import Judges

TEXT = (
    "The tariff of 1824 was meant to protect domestic manufactures. The treasury had a surplus of 12 million dollars in 1888. "
    "Wages of iron workers rose after the law of 1890. Postal service to the western territories began by stage coach."
)
SOURCE = Source(url="https://example.org/1", title="Message on the tariff", snapshot=snapshot_hash(TEXT))


def quote(text: str, source: Source = SOURCE) -> Quote:
    start = TEXT.index(text)
    return Quote(source=source, text=text, start=start, end=start + len(text))


PROTECT = quote("The tariff of 1824 was meant to protect domestic manufactures.")
SURPLUS = quote("The treasury had a surplus of 12 million dollars in 1888.")
WAGES = quote("Wages of iron workers rose after the law of 1890.")
POST = quote("Postal service to the western territories began by stage coach.")
FOUND = (Finding(subtask_id="s1", quotes=(PROTECT, SURPLUS, WAGES, POST), stop=StopReason.SUFFICIENT),)
SILENT = ScriptedModel(lambda _: ModelRefused("nobody asks me"))


def a_report(*bodies: str, quotes: tuple[Quote, ...] = (PROTECT, SURPLUS, WAGES, POST)) -> Report:
    sections = tuple(Section(heading=f"Part {n}", body=body) for n, body in enumerate(bodies, 1))
    return Report(title="Tariffs", sections=sections, quotes=quotes)


async def check(
    report: Report, judges: Judges | None = None, model: ScriptedModel = SILENT, language: Language = Language.ENGLISH
) -> Report:
    return await verify_report(report, FOUND, make_kit(model, make_record(), language=language), judges or Judges(), {})


async def test_a_sources_own_words_hold_by_construction() -> None:
    dated = quote(PROTECT.text, SOURCE.model_copy(update={"author": "President Monroe", "published": date(1824, 12, 7)}))
    body = f"In December 1824 President Monroe said: “{PROTECT.text}” {marker_of(dated)}"
    report = await check(a_report(body, quotes=(dated,)))
    assert [(c.support, c.judge) for c in report.claims] == [(Support.FULL, "verbatim")]
    assert report.notices == ()


CLEVELAND = "The tariff laws are the vicious and illogical source of needless taxation, and ought to be revised and amended."
ZH = "现行关税法是不必要税收的来源，既不公平也不合理，应当立即修订并加以完善。"


@pytest.mark.parametrize(
    ("title", "text", "body"),
    [
        ("Message, Grover Cleveland, 1887", CLEVELAND, f"McKinley said: “{CLEVELAND}”"),
        ("Message, Grover Cleveland, 1887", CLEVELAND, f"In 1901 Cleveland said: “{CLEVELAND}”"),
        ("Message, Grover Cleveland, 1887", CLEVELAND, f"In 1932 Hoover told Congress that free trade was “{CLEVELAND}”"),
        ("Message, Grover Cleveland, 1887", CLEVELAND, f"Cleveland denied that “{CLEVELAND}”"),
        ("Message, Grover Cleveland, 1887", CLEVELAND, f"It is false that {CLEVELAND.lower()}"),
        ("克利夫兰总统1887年咨文", ZH, f"麦金莱在1901年说：“{ZH}”"),
        ("克利夫兰总统1887年咨文", ZH, f"克利夫兰驳斥了“{ZH}”"),
    ],
)
async def test_a_quotation_that_is_falsely_introduced_is_judged_like_any_claim(title: str, text: str, body: str) -> None:
    said = Quote(source=SOURCE.model_copy(update={"title": title}), text=text, start=0, end=len(text))
    report = a_report(f"{body} {marker_of(said)}", quotes=(said,))
    (claim,) = (await check(report)).claims
    assert claim.support is not Support.FULL
    model = ScriptedModel(lambda _: verdict(verdict="none"))
    assert (await check(report, Judges(second=ClaimGrader.MODEL), model)).claims[0].support is Support.NONE


@pytest.mark.parametrize("verb", ["joked", "threatened", "conceded"])
async def test_how_something_was_said_is_for_a_judge(verb: str) -> None:
    said = Quote(source=SOURCE, text=CLEVELAND, start=0, end=len(CLEVELAND))
    model = ScriptedModel(lambda _: verdict(verdict="none"))
    report = a_report(f"The message {verb}: “{CLEVELAND}” {marker_of(said)}", quotes=(said,))
    assert (await check(report, Judges(second=ClaimGrader.MODEL), model)).claims[0].support is Support.NONE


async def test_quotations_that_changed_their_speakers_are_judged() -> None:
    taft = quote(WAGES.text, SOURCE.model_copy(update={"author": "Taft"}))
    polk = quote(PROTECT.text, SOURCE.model_copy(update={"author": "Polk"}))
    for one, other, judge in (("Taft", "Polk", "verbatim"), ("Polk", "Taft", "offline")):
        body = f"{one} said “{taft.text}” {marker_of(taft)}; {other} said “{polk.text}” {marker_of(polk)}."
        assert (await check(a_report(body, quotes=(taft, polk)))).claims[0].judge == judge


async def test_two_sources_side_by_side_are_their_own_words_too() -> None:
    sides = f"one states “{WAGES.text}” {marker_of(WAGES)}; another states “{SURPLUS.text}” {marker_of(SURPLUS)}."
    body = f"Sources disagree on wages: {sides}"
    assert (await check(a_report(body))).claims[0].judge == "verbatim"


async def test_words_put_into_a_quotation_do_not_pass_for_the_source() -> None:
    report = await check(
        a_report(f"He said: “The tariff of 1824 was meant to ruin western farmers for ever.” {marker_of(PROTECT)}")
    )
    assert report.claims[0].judge != "verbatim"


async def test_a_part_whose_negation_was_cut_off_does_not_pass_for_the_source() -> None:
    denial = Quote(source=SOURCE, text="It is not true that duties protect labor in the mills.", start=0, end=54)
    report = await check(a_report(f"Duties protect labor in the mills {marker_of(denial)}.", quotes=(denial,)))
    assert report.claims[0].judge != "verbatim"


async def test_a_claim_on_the_wrong_quote_is_given_the_right_one() -> None:
    body = (
        f"After the law of 1890, wages of iron workers rose {marker_of(POST)}. "
        f"The tariff of 1824 protected domestic manufactures {marker_of(PROTECT)}."
    )
    report = await check(a_report(body, quotes=(PROTECT, POST)))
    assert marker_of(WAGES) in report.sections[0].body
    assert marker_of(POST) not in report.sections[0].body
    assert WAGES in report.quotes
    first, second = report.claims
    assert first.support is Support.FULL
    assert first.quote_keys == (WAGES.key,)
    for claim in (first, second):
        assert report.sections[0].body[claim.start : claim.end].startswith(claim.text[:12])
        assert report.sections[0].body[claim.start : claim.end].endswith(".")


async def test_a_claim_that_nothing_supports_is_told() -> None:
    report = await check(a_report(f"Glaciers in Norway retreat faster each summer because of soot {marker_of(POST)}."))
    assert report.claims[0].support is Support.NONE
    assert report.claims[0].reason
    assert "†" in report.notices[-1]


async def test_a_missing_number_is_named() -> None:
    report = await check(a_report(f"The treasury had a surplus of 95 million dollars in 1888 {marker_of(SURPLUS)}."))
    assert report.claims[0].support is not Support.FULL
    assert "9.5e+07" in report.claims[0].reason or "95" in report.claims[0].reason


async def test_a_sentence_without_citation_is_uncited_never_blamed() -> None:
    report = await check(
        a_report(f"Birds of Norway migrate in autumn. {PROTECT.text} {marker_of(PROTECT)}\n\nThis section weighs two accounts.")
    )
    assert [c.support for c in report.claims] == [Support.UNCITED, Support.FULL, Support.UNCITED]
    assert [c.unsourced for c in report.claims] == [True, False, False]
    assert not any("†" in notice for notice in report.notices)


async def test_a_marker_without_a_quote_is_no_citation() -> None:
    report = await check(a_report("Glaciers retreat because of soot [[0123456789abcdef]]."), Judges(second=ClaimGrader.MODEL))
    assert report.claims[0].support is Support.UNCITED


async def test_a_quote_is_widened_to_its_sentence() -> None:
    half = quote("rose after the law of 1890.")
    report = a_report(f"Wages of iron workers rose after the 1890 law {marker_of(half)}.", quotes=(half,))
    around = {half.key: QuoteContext(TEXT[half.start - 40 : half.start], TEXT[half.end : half.end + 40])}
    kit = make_kit(SILENT, make_record())
    bare = await verify_report(report, (), kit, Judges(), {})
    wide = await verify_report(report, (), kit, Judges(), around)
    assert wide.claims[0].support is Support.FULL
    assert (bare.claims[0].support, wide.claims[0].support) != (Support.NONE, Support.NONE)


async def test_one_weak_source_is_told() -> None:
    preprint = SOURCE.model_copy(update={"preprint": True})
    weak = quote(PROTECT.text, preprint)
    report = await check(
        a_report(f"{PROTECT.text} {marker_of(weak)} {SURPLUS.text} {marker_of(SURPLUS)}", quotes=(weak, SURPLUS))
    )
    assert "preprint" in report.claims[0].weak
    assert report.claims[1].weak == ""
    assert "weak" in report.notices[-1]


async def test_an_abstract_and_the_page_of_a_retracted_paper_are_one_weak_source() -> None:
    paper = SOURCE.model_copy(update={"url": "https://doi.org/10.1000/1", "doi": "10.1000/1", "retracted": True})
    page = SOURCE.model_copy(update={"url": "https://publisher.example/1", "doi": "10.1000/1", "kind": "web page"})
    abstract, body = quote(PROTECT.text, paper), quote(PROTECT.text, page)
    report = await check(
        a_report(
            f"{PROTECT.text} {marker_of(abstract)}{marker_of(body)} {SURPLUS.text} {marker_of(SURPLUS)}",
            quotes=(abstract, body, SURPLUS),
        )
    )
    assert "retracted" in report.claims[0].weak
    assert report.claims[1].weak == ""


async def test_chinese_reports_are_told_in_chinese() -> None:
    said = Quote(source=SOURCE, text=ZH, start=0, end=len(ZH))
    body = f"挪威的冰川每年夏天都在加速消退{marker_of(said)}。"
    report = await check(a_report(body, quotes=(said,)), language=Language.CHINESE)
    assert report.claims[0].support is Support.NONE
    assert "核查" in report.notices[-1]


def verdict(verdict: str = "none", **said: object) -> ScriptedAnswer:
    """A judge's verdict on the first statement."""
    if verdict == "full":
        return json.dumps({"full": [{"id": 1} | said]})
    if verdict == "remark":
        return json.dumps({"remark": [1]})
    return json.dumps({"others": [{"id": 1, "verdict": verdict, "reason": "Not said.", "softened": ""} | said]})


async def test_a_model_sees_a_claim_that_the_offline_grader_holds_for_true() -> None:
    report = a_report(f"In 1888 the treasury had a surplus of 12 million dollars {marker_of(SURPLUS)}.")
    assert (await check(report)).claims[0].support is Support.FULL
    model = ScriptedModel(lambda _: verdict(verdict="none", reason="It says something else."))
    judged = (await check(report, Judges(second=ClaimGrader.MODEL), model)).claims[0]
    assert (judged.support, judged.judge, judged.reason) == (Support.NONE, "model", "It says something else.")


async def test_a_long_section_is_judged_in_several_requests_and_shows_a_passage_once_in_each() -> None:
    claims = " ".join(f"Soot number {n} melts glaciers {marker_of(POST)}." for n in range(200))
    model = ScriptedModel(lambda _: verdict())
    await check(a_report(claims), Judges(second=ClaimGrader.MODEL), model)
    shown = [request.messages[-1].content for request in model.requests]
    assert [text.count(POST.text) for text in shown] == [1, 1]
    assert [text.count("<s id=") for text in shown] == [160, 40]


async def test_a_judge_reads_a_statement_in_its_section_beside_the_whole_passage_that_it_cites() -> None:
    text = f"Chapter 3. {PROTECT.text} It was repealed in 1833."
    quote = PROTECT.model_copy(update={"start": 11, "end": 11 + len(PROTECT.text)})
    whole = Passage(source=PROTECT.source, text=text, start=0, end=len(text))
    found = Finding(subtask_id="s1", quotes=(quote,), passages=(whole,), stop=StopReason.SUFFICIENT)
    report = a_report(f"| Law | Fate |\n|---|---|\n| Tariff | ended in 1833 {marker_of(quote)} |\n\nSo it fell.", quotes=(quote,))
    model = ScriptedModel(lambda _: verdict(verdict="full"))
    await verify_report(report, (found,), make_kit(model, make_record()), Judges(second=ClaimGrader.MODEL), {})
    asked = model.requests[0].messages[-1].content
    assert all(said in asked for said in ("Chapter 3.", PROTECT.text, "It was repealed in 1833."))
    assert '| Tariff | <s id="1" cites="q1">ended in 1833</s>' in asked
    assert "So it fell." in asked


async def test_a_sentence_without_a_citation_is_not_said_to_cite_what_comes_after_it() -> None:
    report = a_report(f"Taft repealed it in 1911. Glaciers retreat because of soot {marker_of(POST)}.")
    model = ScriptedModel(lambda _: verdict(verdict="full"))
    await check(report, Judges(second=ClaimGrader.MODEL), model)
    assert '<s id="1">Taft repealed it in 1911.</s>' in model.requests[0].messages[-1].content


async def test_a_model_judges_what_is_not_verbatim_once_a_section() -> None:
    report = a_report(
        f"{PROTECT.text} {marker_of(PROTECT)} Glaciers retreat because of soot {marker_of(POST)}. "
        f"Snow melts early {marker_of(POST)}."
    )
    model = ScriptedModel(lambda _: verdict(verdict="full"))
    judged = await check(report, Judges(second=ClaimGrader.MODEL), model)
    assert len(model.requests) == 1
    assert f">{PROTECT.text}" not in model.requests[0].messages[-1].content
    assert judged.claims[1].support is Support.FULL
    assert judged.claims[1].judge == "model"


async def test_a_claim_that_got_better_evidence_and_is_softened_then_cites_that_evidence() -> None:
    others = f"{PROTECT.text} {marker_of(PROTECT)}"
    body = f"After the law of 1890, wages of iron workers rose {marker_of(POST)}{marker_of(SURPLUS)}. {others}"
    model = ScriptedModel(lambda _: verdict(softened="Wages of iron workers rose."))
    judged = await check(a_report(body), Judges(second=ClaimGrader.MODEL), model)
    assert judged.sections[0].body == f"Wages of iron workers rose. {marker_of(WAGES)} {others}"
    assert judged.claims[0].quote_keys == (WAGES.key,)
    assert [judged.sections[0].body[c.start : c.end].split(" [[")[0] for c in judged.claims] == [c.text for c in judged.claims]


async def test_a_softened_sentence_replaces_the_claim_and_keeps_its_citation() -> None:
    report = a_report(f"Glaciers retreat because of soot {marker_of(POST)}. {PROTECT.text} {marker_of(PROTECT)}")
    judged = await check(
        report,
        Judges(second=ClaimGrader.MODEL),
        ScriptedModel(lambda _: verdict(softened="Postal service began by stage coach.")),
    )
    body = judged.sections[0].body
    assert body.startswith(f"Postal service began by stage coach. {marker_of(POST)}")
    for claim in judged.claims:
        assert claim.text in body[claim.start : claim.end]


@pytest.mark.parametrize("ruling", ["none", "contradicted"])
@pytest.mark.parametrize(
    "softened", ["Wages of iron workers fell after the law of 1890.", "Wages of iron workers never rose after the law of 1890."]
)
async def test_a_softened_sentence_that_the_evidence_opposes_does_not_pass(ruling: str, softened: str) -> None:
    report = a_report(f"Glaciers grew after the law of 1890 {marker_of(WAGES)}.")
    model = ScriptedModel(lambda _: verdict(verdict=ruling, softened=softened))
    judged = await check(report, Judges(second=ClaimGrader.MODEL), model)
    assert judged.claims[0].support is Support(ruling)


async def test_a_softened_sentence_may_not_bring_numbers_of_its_own() -> None:
    report = a_report(f"Glaciers retreat because of soot {marker_of(POST)}.")
    judged = await check(
        report, Judges(second=ClaimGrader.MODEL), ScriptedModel(lambda _: verdict(softened="About 77 coaches ran."))
    )
    assert judged.sections == report.sections
    assert judged.claims[0].support is Support.NONE


async def test_a_softened_sentence_may_not_bring_names_of_its_own() -> None:
    report = a_report(f"Glaciers retreat because of soot {marker_of(POST)}.")
    judged = await check(
        report, Judges(second=ClaimGrader.MODEL), ScriptedModel(lambda _: verdict(softened="Coaches of Wells ran."))
    )
    assert judged.sections == report.sections


async def test_a_model_that_fails_leaves_the_offline_verdict() -> None:
    report = a_report(f"Glaciers retreat because of soot {marker_of(POST)}.")
    judged = await check(report, Judges(second=ClaimGrader.MODEL))
    assert judged.claims[0].support is Support.NONE


@pytest.mark.parametrize("judges", [Judges(second=ClaimGrader.MODEL), Judges(second=ClaimGrader.NLI)])
@pytest.mark.parametrize(
    ("language", "told"), [(Language.ENGLISH, "2 statements were checked by their words"), (Language.CHINESE, "有 2 处")]
)
async def test_claims_that_the_judge_left_out_are_counted_once(judges: Judges, language: Language, told: str) -> None:
    """The model refuses; the owner of the cross-encoder is away."""
    report = a_report(f"Glaciers retreat because of soot {marker_of(POST)}. Post went by stage coach {marker_of(POST)}.")
    notices = (await check(report, judges, language=language)).notices
    assert sum(told in notice and "†" not in notice for notice in notices) == 1
    assert not any(told in notice and "†" not in notice for notice in (await check(report, language=language)).notices)


async def test_no_notice_where_the_judge_judged_all() -> None:
    report = a_report(f"{PROTECT.text} {marker_of(PROTECT)} Post went by stage coach {marker_of(POST)}.")
    judged = await check(report, Judges(second=ClaimGrader.MODEL), ScriptedModel(lambda _: verdict(verdict="full")))
    assert judged.notices == ()


class Weights:
    """The index owner's weights, as far as judges use them; `down` like one that does not answer."""

    def __init__(self, entailed: float = 0.0, contradicted: float = 0.0, down: bool = False) -> None:
        self.said = (entailed, contradicted)
        self.down = down
        self.asked = 0

    async def entail(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[float, float]]:
        self.asked += len(pairs)
        if self.down:
            raise ToolError("the index does not answer")
        return [self.said for _ in pairs]


async def test_without_the_index_the_verdict_from_words_stands() -> None:
    report = await check(
        a_report(f"Glaciers retreat because of soot {marker_of(POST)}."), Judges(Weights(down=True), ClaimGrader.NLI)
    )
    assert (report.claims[0].support, report.claims[0].judge) == (Support.NONE, "offline")


async def test_a_cross_encoder_rules_on_what_is_in_doubt() -> None:
    report = a_report(f"Glaciers retreat because of soot {marker_of(POST)}.")
    for said, expected in (((0.9, 0.05), Support.FULL), ((0.1, 0.8), Support.CONTRADICTED), ((0.1, 0.1), Support.NONE)):
        judged = await check(report, Judges(Weights(*said), ClaimGrader.NLI))
        assert judged.claims[0].support is expected


async def test_a_cross_encoder_sees_a_claim_that_the_offline_grader_holds_for_true() -> None:
    report = a_report(f"In 1888 the treasury had a surplus of 12 million dollars {marker_of(SURPLUS)}.")
    unsure = (await check(report, Judges(Weights(0.2, 0.0), ClaimGrader.NLI))).claims[0]
    assert (unsure.support, unsure.judge) == (Support.PARTIAL, "nli")
    assert unsure.reason
    verbatim = Weights(0.0, 1.0)
    assert (
        (await check(a_report(f"{PROTECT.text} {marker_of(PROTECT)}"), Judges(verbatim, ClaimGrader.NLI))).claims[0].support.holds
    )
    assert verbatim.asked == 0


async def test_the_same_report_is_judged_the_same_way() -> None:
    report = a_report(f"Wages of iron workers rose {marker_of(POST)}. Glaciers retreat because of soot {marker_of(POST)}.")
    assert await check(report) == await check(replace_nothing(report))


def replace_nothing(report: Report) -> Report:
    return Report.model_validate_json(report.model_dump_json())


async def test_a_table_that_nobody_would_see_as_one_is_put_right_with_its_citations() -> None:
    rows = (
        f"| 1890 | wages of iron workers {marker_of(WAGES)} |",
        f"| 1888 | the surplus of the treasury {marker_of(SURPLUS)} |",
    )
    broken = "\n".join(["| Year | What rose |", *rows])
    report = await check(a_report(f"In short:\n\n{broken}\nFrom the messages {marker_of(PROTECT)}."))
    body = report.sections[0].body
    assert "| Year | What rose |\n| --- | --- |\n| 1890 |" in body
    assert f"{marker_of(SURPLUS)} |\n\nFrom the messages" in body
    cells = [claim for claim in report.claims if claim.quote_keys]
    assert [claim.quote_keys for claim in cells][:4] == [(WAGES.key,)] * 2 + [(SURPLUS.key,)] * 2
    assert all(body[claim.start : claim.end].strip().startswith(claim.text[:8]) for claim in cells)
    kit = make_kit(SILENT, make_record())
    own = await verify_report(a_report(broken), FOUND, kit, Judges(), {}, mend=False)
    assert own.sections[0].body == broken, "a reader's own words stay as they are"
