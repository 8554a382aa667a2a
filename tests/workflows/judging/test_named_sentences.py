"""The sentences that a judge names become the quotations under a statement's citations."""

from app.domain.budget import StopReason
from app.domain.chat import ChatRequest
from app.domain.citations import MARKER, marker_of
from app.domain.claims import Support
from app.domain.errors import ContextTooLong
from app.domain.evidence import Finding, Passage, Quote, Source, snapshot_hash
from app.domain.query import ResearchQuery
from app.domain.report import Report
from app.domain.writer import Composition, WriterSettings
from app.settings import ClaimGrader
from tests.workflows.agent_kit import make_kit, make_record
from tests.workflows.judging.test_report_verification import a_report, verdict
from workflows.agents.asker import Asker
from workflows.agents.evidence_book import EvidenceBook
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.reporting.whole_prompt import show_what_was_read
from workflows.agents.reporting.whole_report import write_in_one_pass
from workflows.agents.simple_plan import make_single_plan
from workflows.chat_models.scripted import ScriptedAnswer, ScriptedModel
from workflows.judging.named_sentences import find_named
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


def test_sentences_are_found_by_their_first_words_and_stretches_by_the_last_too() -> None:
    passages = {"q1": BREMEN, "q2": LEASE}
    said = [
        "q1: Der Verein zahlt … am 30. November.",
        "[q2]: the lease ends",
        "q7: The lease",
        "q2: The lease was sold",
        "q2",
        "none",
    ]
    named = find_named(said, passages)
    assert [quote.text for quote in named] == [
        "Der Verein zahlt 40.000 Euro. Die Frist endet am 30. November.",
        "The lease ends in 2032.",
    ]
    for quote, whole in zip(named, (BREMEN, LEASE), strict=True):
        assert whole.holds(quote)
        assert whole.text[quote.start : quote.end] == quote.text
    assert find_named(["q1: Protokoll der Sitzung", "q1: Protokoll der"], passages) == [beginning(BREMEN)]


def test_last_words_that_are_not_there_leave_the_first_sentence() -> None:
    [quote] = find_named(["q2: The lease ends ... the roof was mended"], {"q2": LEASE})
    assert quote.text == "The lease ends in 2032."


def test_a_word_that_stands_once_names_its_sentence_and_one_that_stands_twice_names_none() -> None:
    whole = passage("Le tube a augmenté. Le mur a tenu. Le mur est haut.")
    assert [q.text for q in find_named(["q1: Le tube", "q1: Le mur"], {"q1": whole})] == ["Le tube a augmenté."]


def test_a_sentence_that_announces_something_has_it_with_it() -> None:
    whole = passage("An error of entry was found:\n\n1.4 µg/L (and not 14.0). It is one sample.")
    [quote] = find_named(["q1: An error of entry"], {"q1": whole})
    assert quote.text.endswith(":\n\n1.4 µg/L (and not 14.0).")
    last = passage("We add the following words:")
    assert [q.text for q in find_named(["q1: We add the"], {"q1": last})] == [last.text]


def test_a_sentence_that_points_back_begins_with_the_one_before() -> None:
    whole = passage("The mill burned down. It was rebuilt in 1902. Nobody was hurt.")
    assert [q.text for q in find_named(["q1: It was rebuilt"], {"q1": whole})] == [
        "The mill burned down. It was rebuilt in 1902."
    ]


async def test_a_statement_cites_the_sentences_that_give_it_in_another_language_too() -> None:
    report = await judge(
        f"Bremen pays 40,000 euros {marker_of(beginning(BREMEN))}. The rest is open.", by=["q1: Der Verein zahlt"]
    )
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
    report = await judge(body, by=["q2: The lease ends", "q1: Der Verein zahlt"])
    assert texts_of(report, MARKER.findall(report.sections[0].body)) == [
        "Der Verein zahlt 40.000 Euro.",
        "The lease ends in 2032.",
    ]


async def test_each_named_sentence_stands_once_where_its_words_are_told() -> None:
    cited = marker_of(beginning(LEASE))
    body = f"In 2032 the lease ends {cited}, the chair was thankful {cited}, and nothing else {cited}."
    report = await judge(body, by=["q1: The chair thanked", "q1: The lease ends"])
    lease, chair, last = texts_of(report, MARKER.findall(report.sections[0].body))
    assert (lease, chair) == ("The lease ends in 2032.", "The chair thanked everybody.")
    assert last in {lease, chair}, "no citation is lost"


async def test_a_sentence_that_leans_on_a_citation_goes_with_it() -> None:
    report = await judge(f"Bremen pays. It is 40,000 euros {marker_of(beginning(BREMEN))}.", id=2, by=["q1: Der Verein zahlt"])
    assert [texts_of(report, claim.quote_keys) for claim in report.claims][-1] == ["Der Verein zahlt 40.000 Euro."]
    assert all(set(claim.quote_keys) <= set(MARKER.findall(report.sections[0].body)) for claim in report.claims)


async def test_without_names_the_chosen_words_stay() -> None:
    report = await judge(f"Bremen pays 40,000 euros {marker_of(beginning(BREMEN))}.", by=[])
    assert texts_of(report, report.claims[0].quote_keys) == ["Protokoll der Sitzung."]


async def judge_own_report(refused: bool) -> tuple[list[ChatRequest], Report]:
    """Write a report in one call and judge it by the same model; it finds the writer's passages too long where `refused`."""
    quotes = (beginning(BREMEN), beginning(LEASE))
    found = Finding(subtask_id="s1", quotes=quotes, passages=(BREMEN, LEASE), answer="It pays.", stop=StopReason.SUFFICIENT)
    asked: list[ChatRequest] = []

    def answer(request: ChatRequest) -> ScriptedAnswer:
        asked.append(request)
        text = request.messages[-1].content
        if "<s id=" not in text:
            return '{"edits": []}' if request.response_schema else "# T\n\n## A\n\nBremen pays 40,000 euros [q1]."
        if refused and LEASE.text in text:
            raise ContextTooLong("too long")
        return verdict("full", by=["q1: Der Verein zahlt"])

    query = ResearchQuery(question="Who pays?", writer=WriterSettings(composition=Composition.SINGLE_PASS))
    kit = make_kit(ScriptedModel(answer), make_record())
    desk = ReportDesk(kit, query, make_single_plan(query), (found,), EvidenceBook((found,)), Asker(kit, "report"))
    written = await write_in_one_pass(desk)
    assert written
    read = show_what_was_read(written, desk)
    judges = Judges(second=ClaimGrader.MODEL)
    return asked, await verify_report(written, (found,), kit, judges, {}, read=read)


async def test_a_judge_of_its_own_report_begins_with_the_bytes_that_it_wrote_from() -> None:
    asked, report = await judge_own_report(refused=False)
    first, last = asked[0].messages, asked[-1].messages
    evidence, _, _ = first[1].content.partition("</evidence>")
    assert first[0] == last[0]
    assert last[1].content.startswith(f"{evidence}</evidence>\n\n<report>")
    assert len(last) == 2, "it is no turn of the writer's conversation"
    assert texts_of(report, report.claims[0].quote_keys) == ["Der Verein zahlt 40.000 Euro."]


async def test_where_that_is_too_long_it_judges_beside_what_is_cited() -> None:
    asked, report = await judge_own_report(refused=True)
    assert len(asked) == 4
    assert LEASE.text not in asked[-1].messages[1].content
    assert texts_of(report, report.claims[0].quote_keys) == ["Der Verein zahlt 40.000 Euro."]


def test_what_section_writers_read_is_shared_with_nobody() -> None:
    query = ResearchQuery(question="Who pays?")
    kit = make_kit(ScriptedModel(lambda _: "No."), make_record())
    found = Finding(subtask_id="s1", passages=(BREMEN,), stop=StopReason.SUFFICIENT)
    desk = ReportDesk(kit, query, make_single_plan(query), (found,), EvidenceBook((found,)), Asker(kit, "report"))
    assert show_what_was_read(Report(title="T", sections=(), composition=Composition.SECTIONS), desk) is None
