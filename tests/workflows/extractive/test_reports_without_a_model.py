"""What a reader gets without a model: reports over the real addresses, through the whole chain in one process."""

import re
from collections.abc import Iterator
from datetime import date

import pytest

from app.domain.options import Length, ReportFormat, ReportStyle, SearchScope, Tone
from app.domain.plan import Subtask
from app.domain.query import Clarification, Language, detect_language
from app.domain.writer import Arrangement, WriterSettings
from app.reports.rendering.numbering import number_citations
from retrieval.search.in_process import LocalSearcher, open_local
from tests.workflows.extractive.extractive_report import write_report_on
from workflows.agents.extractive.forms import shaped
from workflows.agents.extractive.survey import extent

TARIFFS = "How did presidents justify tariffs before 1900?"
NOTHING_THERE = "Which enzymes unwind DNA during replication in zebrafish?"


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalSearcher]:
    """The State of the Union addresses, found by words."""
    with open_local(tmp_path_factory.mktemp("home")) as searcher:
        yield searcher


async def test_every_citation_is_an_exact_quotation_and_every_quotation_is_cited(addresses: LocalSearcher) -> None:
    report = await write_report_on(TARIFFS, addresses)
    result = number_citations(report)
    assert result.unresolved == ()
    assert len(result.citations) >= 10
    cited = [claim for claim in report.claims if claim.quote_keys]
    assert len(cited) >= 10
    assert {claim.judge for claim in cited} == {"verbatim"}
    for citation in result.citations:
        quote = citation.quote
        stored = await addresses.read(quote.source.url)
        assert stored.text[quote.start : quote.end] == quote.text
    for body in result.bodies:
        for said in re.findall(r"“[^”]+”(.{0,8})", body, re.DOTALL):
            assert re.match(r"\s*\[\d+\]", said), said


async def test_a_report_has_several_sections_and_sources_and_says_nothing_twice(addresses: LocalSearcher) -> None:
    report = await write_report_on(TARIFFS, addresses)
    citations = number_citations(report).citations
    assert len({c.quote.source.url for c in citations}) >= 5
    assert len(report.sections) >= 3
    assert len({s.heading for s in report.sections}) == len(report.sections)
    texts = [" ".join(c.quote.text.lower().split()) for c in citations]
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize(
    ("question", "statements", "sources"),
    [
        ("What were the arguments for and against a national bank?", 15, 8),
        ("Why was silver coinage controversial?", 15, 8),
        ("Why did presidents oppose or support the annexation of new territory before 1900?", 4, 3),
        ("Which reasons did presidents give for going to war?", 6, 5),
    ],
)
async def test_an_account_rests_on_many_sources(question: str, statements: int, sources: int, addresses: LocalSearcher) -> None:
    report = await write_report_on(question, addresses)
    citations = number_citations(report).citations
    assert len(citations) >= statements
    assert len({c.quote.source.url for c in citations}) >= sources
    assert not {"Objections raised", "What the sources do not cover"} & {section.heading for section in report.sections}


async def test_a_step_that_a_reader_adds_is_researched_and_has_its_section(addresses: LocalSearcher) -> None:
    fish = Subtask(id="added1", title="What was said of the fisheries", question="What did presidents say of the fisheries?")
    lost = Subtask(id="added2", title="What happened to the zebrafish", question="What happened to the zebrafish?")
    plain = await write_report_on(TARIFFS, addresses)
    report = await write_report_on(TARIFFS, addresses, added=(fish, lost))
    by_heading = {section.heading: body for section, body in zip(report.sections, number_citations(report).bodies, strict=True)}
    assert len(re.findall(r"\[\d+\]", by_heading[fish.title])) >= 3
    assert by_heading[fish.title].lower().count("fisheries") >= 3
    assert by_heading[lost.title] == f"No statement was found for “{lost.title}”. No passage read mentions “zebrafish”."
    assert report.sections[: len(plain.sections)] == plain.sections, "the rest of the report is as it would be without them"
    texts = [" ".join(c.quote.text.lower().split()) for c in number_citations(report).citations]
    assert len(set(texts)) == len(texts)
    brief = shaped(report.sections[:-1], {}, ReportStyle(format=ReportFormat.BRIEF), Language.ENGLISH, 1, 1)
    assert [section.heading for section in brief] == [plain.sections[0].heading, fish.title]


async def test_several_questions_are_answered_each_by_itself(addresses: LocalSearcher) -> None:
    report = await write_report_on(
        "How did presidents justify tariffs before 1900, and what did Lincoln say about slavery?", addresses
    )
    assert [s.heading for s in report.sections] == [
        "How did presidents justify tariffs before 1900?",
        "What did Lincoln say about slavery?",
    ]
    assert [len(re.findall(r"\[\d+\]", body)) >= 3 for body in number_citations(report).bodies] == [True, True]
    assert "Lincoln" in report.sections[1].body
    brief = await write_report_on(
        "How did presidents justify tariffs before 1900, and what did Lincoln say about slavery?",
        addresses,
        style=ReportStyle(format=ReportFormat.BRIEF),
    )
    assert len(brief.sections) == 2


async def test_a_time_limit_in_the_question_is_kept(addresses: LocalSearcher) -> None:
    report = await write_report_on(TARIFFS, addresses)
    dates = [c.quote.source.published for c in number_citations(report).citations]
    assert all(day is not None and day.year < 1900 for day in dates)


@pytest.mark.parametrize(
    ("question", "read", "first", "last"),
    [
        (
            "How did presidents describe roads and canals before the Civil War?",
            "“before the Civil War” as “before 1861”",
            1790,
            1860,
        ),
        (
            "How did presidents speak of immigration during the Great Depression?",
            "“during the Great Depression” as “from 1929 to 1939”",
            *(1929, 1939),
        ),
    ],
)
async def test_a_time_called_by_its_name_is_kept_and_the_reader_told(
    question: str, read: str, first: int, last: int, addresses: LocalSearcher
) -> None:
    report = await write_report_on(question, addresses)
    years = [c.quote.source.published.year for c in number_citations(report).citations if c.quote.source.published]
    assert all(first <= year <= last for year in years)
    assert len(years) >= 3
    assert read in report.notices[0]


async def test_a_time_that_is_itself_asked_about_stays_in_the_question(addresses: LocalSearcher) -> None:
    for question in ("What happened during the Civil War?", "Why did presidents fear the years after the Syrian Civil War?"):
        report = await write_report_on(question, addresses)
        assert not any(notice.startswith("Read ") for notice in report.notices)


async def test_an_order_is_read_as_the_topic_it_gives(addresses: LocalSearcher) -> None:
    ordered = await write_report_on("Summarize the debate over internal improvements", addresses)
    assert ordered.title == "The debate over internal improvements"
    assert len(ordered.sections) >= 4
    assert all("improvement" in quote.text.lower() for quote in ordered.quotes)


async def test_a_section_tells_events_in_their_order(addresses: LocalSearcher) -> None:
    report = await write_report_on(TARIFFS, addresses)
    dates = {c.n: c.quote.source.published for c in number_citations(report).citations}
    told = [[dates[int(n)] for n in re.findall(r"\[(\d+)\]", body)] for body in number_citations(report).bodies]
    ordered = sum(days == sorted(days) for days in told)  # type: ignore[type-var]
    assert ordered >= len(told) - 1, "only the opening overview may follow another order"


async def test_an_asked_for_arrangement_makes_another_report_of_the_same_evidence(addresses: LocalSearcher) -> None:
    usual = await write_report_on(TARIFFS, addresses)
    chain = await write_report_on(TARIFFS, addresses, writer=WriterSettings(arrangement=Arrangement.CHAIN))
    assert await write_report_on(TARIFFS, addresses, writer=WriterSettings(arrangement=Arrangement.SURVEY)) == usual
    assert len(chain.sections) < len(usual.sections)
    assert number_citations(chain).unresolved == ()
    assert len(number_citations(chain).citations) >= 3


async def test_the_same_question_gives_the_same_report(addresses: LocalSearcher) -> None:
    question = "Why was the Bank of the United States opposed?"
    assert await write_report_on(question, addresses) == await write_report_on(question, addresses)


@pytest.mark.parametrize("question", [NOTHING_THERE, "qwx zzkrt vlopq?"])
async def test_what_the_corpus_does_not_hold_is_said_plainly(question: str, addresses: LocalSearcher) -> None:
    report = await write_report_on(question, addresses)
    first = report.sections[0]
    assert re.match(r"No (answer|source)", f"{first.heading} {first.body}".removeprefix("In short "))


async def test_a_misspelt_question_gets_the_report_of_the_right_one_and_says_how_it_was_read(addresses: LocalSearcher) -> None:
    misspelt = await write_report_on("How did presidents justify tarifs before 1900?", addresses)
    assert misspelt.sections == (await write_report_on(TARIFFS, addresses)).sections
    assert misspelt.title == "How did presidents justify tarifs before 1900?"
    assert misspelt.notices[0].startswith("Read “tarifs” as “tariffs”: ")
    both = await write_report_on("What did Lincon say about slavrey?", addresses)
    assert {c.quote.source.author for c in number_citations(both).citations} == {"Abraham Lincoln"}
    assert both.notices[0].startswith("Read “Lincon” as “Lincoln”, “slavrey” as “slavery”: ")


async def test_a_reader_is_told_first_what_a_report_cannot_do(addresses: LocalSearcher) -> None:
    canal = await write_report_on("Why was the Erie Canal important for photosynthesis research?", addresses)
    assert canal.sections[0].body.startswith("No passage read mentions “photosynthesis”. What follows is on the rest")
    negated = await write_report_on("What did presidents not want the government to do about the economy?", addresses)
    assert any("“not” could not be followed" in notice for notice in negated.notices)
    quotes = [citation.quote for citation in number_citations(canal).citations]
    assert extent(Language.ENGLISH, quotes[:1]).startswith("This report quotes one statement from one source, dated ")
    assert " to " not in extent(Language.ENGLISH, quotes[:1])
    phones = await write_report_on("What did presidents say about smartphones?", addresses)
    assert all("smartphones" in c.quote.text for c in number_citations(phones).citations)


async def test_a_chinese_question_is_answered_in_chinese_words(addresses: LocalSearcher) -> None:
    report = await write_report_on("总统们如何看待巴拿马运河？", addresses)
    words = " ".join([*report.notices, *(s.heading for s in report.sections)])
    assert detect_language(words) is Language.CHINESE


async def test_who_asks_in_another_language_than_the_sources_is_told(addresses: LocalSearcher) -> None:
    report = await write_report_on("总统们如何看待奴隶制？", addresses)
    assert number_citations(report).citations == ()
    assert "请用该语言提问" in report.sections[0].body


async def test_what_a_named_person_said_is_quoted_from_that_person(addresses: LocalSearcher) -> None:
    report = await write_report_on("What did Theodore Roosevelt say about trusts?", addresses)
    assert {citation.quote.source.author for citation in number_citations(report).citations} == {"Theodore Roosevelt"}


async def test_a_question_of_another_world_that_shares_a_name_is_refused(addresses: LocalSearcher) -> None:
    report = await write_report_on("What is the best pizza in Naples?", addresses)
    assert number_citations(report).citations == ()


@pytest.mark.parametrize("question", ["How many men served in the Union army?", "Why did Truman fire MacArthur?"])
async def test_a_name_alone_or_a_word_alone_answers_nothing(question: str, addresses: LocalSearcher) -> None:
    report = await write_report_on(question, addresses)
    assert number_citations(report).citations == ()


async def test_words_of_a_name_that_stand_apart_are_not_the_name(addresses: LocalSearcher) -> None:
    report = await write_report_on("What did presidents say about the National Guard of Ohio before 1850?", addresses)
    assert not any("Ohio" not in quote.text and "Guard" not in quote.text for quote in report.quotes)


async def test_the_words_of_a_compound_apart_are_said_to_come_near_only(addresses: LocalSearcher) -> None:
    report = await write_report_on("What did Eisenhower think of the military-industrial complex?", addresses)
    assert report.sections[0].body.startswith("No source read answers this in full.")


async def test_an_overview_has_a_line_for_each_section(addresses: LocalSearcher) -> None:
    report = await write_report_on("How did views of Cuba change?", addresses)
    assert len(report.sections) >= 4
    assert all(f"**{section.heading}**" in report.sections[0].body for section in report.sections[1:])


async def test_what_goes_by_another_name_in_the_sources_is_found(addresses: LocalSearcher) -> None:
    """The addresses before 1900 speak of Indians, of a free press, and of purchases."""
    treated = await write_report_on("What did presidents say about the treatment of Native Americans before 1900?", addresses)
    assert len(treated.quotes) >= 6
    assert sum("Indian" in quote.text for quote in treated.quotes) >= 6
    bought = await write_report_on("Who bought Louisiana?", addresses)
    assert any("purchase" in quote.text and "Jefferson" in quote.text for quote in bought.quotes)
    press = await write_report_on("What have presidents said about freedom of the press?", addresses)
    assert all(re.search(r"free(?:dom of the)? press", quote.text) for quote in press.quotes)


async def test_who_did_is_answered_by_each_once_in_their_order(addresses: LocalSearcher) -> None:
    report = await write_report_on("Which presidents proposed health insurance?", addresses)
    assert len({quote.source.author for quote in report.quotes}) == len(report.quotes) >= 8
    assert {"Harry S. Truman", "Richard Nixon"} <= {quote.source.author for quote in report.quotes}


async def test_years_are_searched_and_not_only_sieved(addresses: LocalSearcher) -> None:
    """Most of what is said of the army is older; the headings of periods name only what their statements hold."""
    report = await write_report_on("How did the army change after 1945?", addresses)
    assert len(report.quotes) >= 12
    assert all(quote.source.published and quote.source.published.year > 1945 for quote in report.quotes)
    for section in report.sections[1:]:
        words = section.heading.partition(": ")[2].replace(" and ", " ").split()
        assert all(word[:5].lower() in section.body.lower() for word in words), section.heading


async def test_what_comes_near_is_not_given_for_an_answer(addresses: LocalSearcher) -> None:
    report = await write_report_on("When did the Panama Canal open and who argued against it?", addresses)
    when, against = report.sections[:2]
    assert when.heading == "When did the Panama Canal open?"
    assert when.body.startswith("No source read answers this in full.")
    assert against.heading == "Who argued against the Panama Canal?"


async def test_sides_that_speak_in_the_sources_are_quoted_on_the_topic_and_only_they(addresses: LocalSearcher) -> None:
    report = await write_report_on("Compare the views of Herbert Hoover and Franklin Roosevelt on unemployment.", addresses)
    citations = number_citations(report).citations
    assert {c.quote.source.author for c in citations} == {"Herbert Hoover", "Franklin D. Roosevelt"}
    assert all("unemploy" in c.quote.text.lower() for c in citations)
    report = await write_report_on("Compare Jackson's and Biddle's views of the bank.", addresses)
    assert {c.quote.source.author for c in number_citations(report).citations} == {"Andrew Jackson"}
    assert "Biddle" in report.sections[-1].body


async def test_a_long_preamble_changes_nothing_but_what_stands_before_the_question(addresses: LocalSearcher) -> None:
    preamble = "Hello! I am writing a paper and my teacher wants primary sources. My grandfather worked for a railroad. "
    assert await write_report_on(f"{preamble}Could you please tell me: {TARIFFS}", addresses) == await write_report_on(
        TARIFFS, addresses
    )


async def test_headings_are_nouns(addresses: LocalSearcher) -> None:
    report = await write_report_on("What did presidents say about slavery in the territories?", addresses)
    heads = {word.lower() for section in report.sections for word in re.findall(r"\w+", section.heading)}
    assert heads.isdisjoint({"preparatory", "free", "perfectly", "depends", "scientific"})


async def test_a_chosen_length_and_format_show(addresses: LocalSearcher) -> None:
    usual = await write_report_on(TARIFFS, addresses)
    short, long = [
        await write_report_on(TARIFFS, addresses, style=ReportStyle(length=length)) for length in (Length.SHORT, Length.LONG)
    ]
    counts = [len(number_citations(report).citations) for report in (short, usual, long)]
    assert counts[0] < 0.8 * counts[1] < counts[1] < counts[2]
    brief = await write_report_on(TARIFFS, addresses, style=ReportStyle(format=ReportFormat.BRIEF, tone=Tone.ACADEMIC))
    assert [section.heading for section in brief.sections if "not cover" not in section.heading] == ["In short"]
    assert any("tone" in notice for notice in brief.notices)
    assert not any("tone" in notice for notice in usual.notices)
    bullets = await write_report_on(TARIFFS, addresses, style=ReportStyle(format=ReportFormat.BULLETS))
    assert all(line.startswith("- ") for section in bullets.sections for line in section.body.split("\n") if line)
    table = await write_report_on(TARIFFS, addresses, style=ReportStyle(format=ReportFormat.TABLE_FIRST))
    rows = table.sections[0].body.splitlines()
    assert rows[0] == "| Source | Date | Statement |"
    assert len(rows) > 10
    assert all(row.count("[[") == 1 and len(re.findall(r"(?<!\\)\|", row)) == 4 for row in rows[2:])
    assert [section.heading for section in table.sections[1:]] == [section.heading for section in usual.sections]


async def test_only_sources_of_the_chosen_dates_are_found(addresses: LocalSearcher) -> None:
    first, last = date(1880, 1, 1), date(1889, 12, 31)
    report = await write_report_on(TARIFFS, addresses, scope=SearchScope(published_from=first, published_to=last))
    dates = [c.quote.source.published for c in number_citations(report).citations]
    assert len(dates) > 3
    assert all(day is not None and first <= day <= last for day in dates)


async def test_an_answer_that_was_asked_back_narrows_the_search(addresses: LocalSearcher) -> None:
    answer = Clarification(question="Which years?", answer="from 1880 to 1889")
    report = await write_report_on("How did presidents justify tariffs?", addresses, clarified=(answer,))
    years = {c.quote.source.published.year for c in number_citations(report).citations if c.quote.source.published}
    assert years
    assert all(1880 <= year <= 1889 for year in years)
    assert report.title == "How did presidents justify tariffs?"
