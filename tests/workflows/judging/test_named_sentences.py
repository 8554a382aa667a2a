"""The sentences that a judge names become the quotations under a statement's citations."""

from app.domain.budget import StopReason
from app.domain.citations import MARKER, marker_of
from app.domain.claims import Support
from app.domain.evidence import Finding, Passage, Quote, Source, snapshot_hash
from app.domain.report import Report
from app.settings import ClaimGrader
from tests.workflows.agent_kit import make_kit, make_record
from tests.workflows.judging.test_report_verification import a_report, verdict
from workflows.chat_models.scripted import ScriptedModel
from workflows.judging.named_sentences import find_named, number_sentences
from workflows.judging.report_verification import verify_report
from workflows.judging.second_look import Judges

GERMAN = (
    "Protokoll der Sitzung. Der Verein zahlt 40.000 Euro. Die Frist endet am 30. November. Sonst entscheidet die Versammlung."
)
ENGLISH = "Minutes of the committee. The lease ends in 2032. The chair thanked everybody."


def passage(text: str) -> Passage:
    source = Source(url=f"https://example.org/{len(text)}", title="Minutes", snapshot=snapshot_hash(text))
    return Passage(source=source, text=text, start=0, end=len(text))


def beginning(whole: Passage) -> Quote:
    text = whole.text.split(".")[0] + "."
    return Quote(source=whole.source, text=text, start=0, end=len(text))


BREMEN, LEASE = passage(GERMAN), passage(ENGLISH)


async def judge(body: str, **said: object) -> Report:
    quotes = (beginning(BREMEN), beginning(LEASE))
    found = Finding(subtask_id="s1", quotes=quotes, passages=(BREMEN, LEASE), stop=StopReason.SUFFICIENT)
    model = ScriptedModel(lambda _: verdict("full", **said))
    report = a_report(body, quotes=quotes)
    return await verify_report(report, (found,), make_kit(model, make_record()), Judges(second=ClaimGrader.MODEL), {})


def texts_of(report: Report, keys: tuple[str, ...] | list[str]) -> list[str]:
    known = {quote.key: quote.text for quote in report.quotes}
    return [known[key] for key in keys]


def test_sentences_are_numbered_and_cannot_pass_for_our_tags() -> None:
    assert number_sentences("One is here. </passage> Two is there.") == "⟨1⟩ One is here. ⟨2⟩ ‹/passage> Two is there."


def test_neighbours_make_one_quotation_and_unknown_names_none() -> None:
    stretches = {"S1": BREMEN, "S2": LEASE}
    named = find_named("S1.2-3, S2.2 S7.1 S2.9", stretches)
    assert [quote.text for quote in named] == [
        "Der Verein zahlt 40.000 Euro. Die Frist endet am 30. November.",
        "The lease ends in 2032.",
    ]
    assert all(
        q.source.snapshot == p.source.snapshot and p.text[q.start : q.end] == q.text
        for q in named
        for p in (BREMEN, LEASE)
        if p.holds(q)
    )
    assert find_named("S1.9-99999 S99999999999.1 S1.99999999999 none", stretches) == []
    assert [q.text for q in find_named("S1.1 S1.3", stretches)] == ["Protokoll der Sitzung.", "Die Frist endet am 30. November."]


async def test_a_statement_cites_the_sentences_that_give_it_in_another_language_too() -> None:
    report = await judge(f"Bremen pays 40,000 euros {marker_of(beginning(BREMEN))}. The rest is open.", by="S1.2")
    [claim, *_] = report.claims
    assert claim.support is Support.FULL
    assert texts_of(report, claim.quote_keys) == ["Der Verein zahlt 40.000 Euro."]
    body = report.sections[0].body
    assert texts_of(report, MARKER.findall(body)) == ["Der Verein zahlt 40.000 Euro."]
    assert body[claim.start : claim.end].startswith("Bremen pays 40,000 euros [[")
    assert body.endswith(". The rest is open.")
    assert "Protokoll der Sitzung." not in [quote.text for quote in report.quotes], "what is not shown any more is not kept"


async def test_each_citation_of_a_sentence_keeps_its_passage_and_others_join_the_last() -> None:
    body = f"Bremen pays {marker_of(beginning(BREMEN))} until 2032 {marker_of(beginning(LEASE))}."
    report = await judge(body, by="S2.2 S1.2")
    assert texts_of(report, MARKER.findall(report.sections[0].body)) == [
        "Der Verein zahlt 40.000 Euro.",
        "The lease ends in 2032.",
    ]


async def test_a_sentence_that_leans_on_a_citation_goes_with_it() -> None:
    report = await judge(f"Bremen pays. It is 40,000 euros {marker_of(beginning(BREMEN))}.", id=2, by="S1.2")
    assert [texts_of(report, claim.quote_keys) for claim in report.claims][-1] == ["Der Verein zahlt 40.000 Euro."]
    assert all(set(claim.quote_keys) <= set(MARKER.findall(report.sections[0].body)) for claim in report.claims)


async def test_without_names_the_chosen_words_stay() -> None:
    report = await judge(f"Bremen pays 40,000 euros {marker_of(beginning(BREMEN))}.", by="")
    assert texts_of(report, report.claims[0].quote_keys) == ["Protokoll der Sitzung."]
