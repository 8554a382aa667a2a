"""What a reader gets without a model: reports over real documents, through the whole chain in one process."""

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.domain.budget import StopReason
from app.domain.citations import MARKER
from app.domain.errors import ToolError
from app.domain.evidence import Finding
from app.domain.options import ReportFormat, ReportStyle, Tone
from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import ResearchQuery
from app.domain.report import Report
from app.domain.writer import Arrangement, WriterSettings
from app.reports.rendering.numbering import number_citations
from retrieval.search.in_process import LocalSearcher, open_local
from retrieval.store.catalogue import Collection, CorpusKind
from tests.retrieval.word_encoder import WordEncoder, WordRater
from tests.workflows.brief.brief_report import write_report_on
from workflows.agents.brief.writing import write_brief
from workflows.agents.effort import bounds_of

MANUAL = """---
title: Freezer manual
date: 2024-03-05
---
# Freezer manual

## Door alarm

The door alarm sounds after two minutes. It can be silenced for ten minutes with the bell key.

Reset a forgotten code with this command:

    ufctl keypad --reset
    ufctl keypad --confirm

## Spare parts

| Part | Model | Price |
|---|---|---|
| compressor | UF-480 | 1,240 euros |
| compressor | UF-720 | 1,610 euros |
| door seal | UF-480 | 85 euros |
"""
NOTES = "Minutes of 6 May 2021\n\nThe board decided to buy a second freezer. Anna keeps the key of the cellar."
CHINESE = "用户手册\n\n忘记密码时，长按复位键十秒即可恢复出厂密码。设备应放在通风的地方。"


@pytest.fixture(scope="module", params=[False, True], ids=["words", "meaning"])
def documents(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[LocalSearcher]:
    folder = tmp_path_factory.mktemp("documents")
    (folder / "manual.md").write_text(MANUAL)
    (folder / "notes.txt").write_text(NOTES)
    (folder / "手册.txt").write_text(CHINESE)
    collection = Collection(name="docs", kind=CorpusKind.FOLDER, path=str(folder))
    with open_local(tmp_path_factory.mktemp("home"), collection, encoder=WordEncoder if request.param else None) as searcher:
        yield searcher


async def write(question: str, searcher: LocalSearcher, **options: object) -> Report:
    return await write_report_on(question, searcher, ("docs",), **options)


async def test_every_statement_is_an_exact_quotation_with_its_citation(documents: LocalSearcher) -> None:
    report = await write("How long until the door alarm sounds, and how is it silenced?", documents)
    numbered = number_citations(report)
    assert numbered.unresolved == ()
    assert report.quotes
    for quote in report.quotes:
        stored = await documents.read(quote.source.url)
        assert stored.text[quote.start : quote.end] == quote.text
    for body in numbered.bodies:
        assert all(re.match(r"\s*\[\d+\]", after) for after in re.findall(r"“[^”]+”(.{0,6})", body, re.DOTALL))
    assert all(claim.support.holds for claim in report.claims if claim.quote_keys)


async def test_the_best_source_comes_first_under_its_title_and_date(documents: LocalSearcher) -> None:
    report = await write("When does the door alarm sound?", documents)
    assert report.sections[0].heading == "Freezer manual (2024-03)"
    assert "The door alarm sounds after two minutes." in report.sections[0].body
    assert len({section.heading for section in report.sections}) == len(report.sections)


async def test_a_row_is_shown_in_its_table_and_a_command_as_code(documents: LocalSearcher) -> None:
    report = await write("What does a compressor of the UF-720 cost, and how is the keypad reset?", documents)
    body = report.sections[0].body
    assert "| Part | Model | Price" in body
    assert re.search(r"\| compressor \| UF-720 \| 1,610 euros \| \[\[\w+\]\] \|", body)
    assert re.search(r"- `ufctl keypad --reset` \[\[\w+\]\]\n- `ufctl keypad --confirm` \[\[\w+\]\]", body)


async def test_short_lines_of_notes_answer_too(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "trip.md").write_text(
        "# Trip\n\n- Hotel Mirabell\n- Ask Anna for the key\n- Paris office closed on Monday\n"
    )
    with open_local(tmp_path / "home", Collection(name="docs", kind=CorpusKind.FOLDER, path=str(tmp_path / "docs"))) as searcher:
        report = await write("Whom do we ask for the key?", searcher)
    assert "Ask Anna for the key" in [quote.text for quote in report.quotes]


async def test_chinese_questions_are_answered_from_chinese_documents(documents: LocalSearcher) -> None:
    report = await write("密码忘了怎么办？", documents)
    assert "长按复位键十秒即可恢复出厂密码" in report.sections[0].body
    assert "未使用语言模型" in report.notices[-1]


async def test_several_questions_are_parts_with_their_sources_below(documents: LocalSearcher) -> None:
    report = await write("Who keeps the key of the cellar? What does a door seal cost?", documents)
    assert [section.level for section in report.sections][:2] == [2, 3]
    parts = [section.heading for section in report.sections if section.level == 2]
    assert parts[0] == "Who keeps the key of the cellar?"
    assert len(parts) == 2


async def test_nothing_is_found_only_where_no_passage_is(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "notes.txt").write_text(NOTES)
    with open_local(tmp_path / "home", Collection(name="docs", kind=CorpusKind.FOLDER, path=str(tmp_path / "docs"))) as searcher:
        report = await write("Quelle heure?", searcher)
    assert [section.heading for section in report.sections] == ["Nothing was found"]
    assert report.quotes == ()


async def test_a_search_that_failed_does_not_say_that_there_is_nothing(
    documents: LocalSearcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise ToolError("the index is being moved")

    monkeypatch.setattr(documents, "search", fail)
    report = await write("What does a door seal cost?", documents)
    assert report.sections[0].body.startswith("Nothing was found, but not everything was searched")
    assert "the index is being moved" in report.notices[0]


async def test_a_long_question_is_searched_to_its_end(documents: LocalSearcher) -> None:
    story = "We moved in last spring and like it here, the neighbours are kind and the garden is green. " * 6
    report = await write(f"{story}What does a door seal cost?", documents)
    assert any("seal" in quote.text for quote in report.quotes)


async def test_a_question_in_another_language_than_what_was_found_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "手册.txt").write_text(CHINESE + "UF-480 的压缩机每五年更换一次。")
    with open_local(tmp_path / "home", Collection(name="docs", kind=CorpusKind.FOLDER, path=str(tmp_path / "docs"))) as searcher:
        foreign = await write("How often is the compressor of the UF-480 replaced?", searcher)
        own = await write("UF-480的压缩机多久更换一次？", searcher)
    assert "another language" in foreign.notices[0]
    assert not any("语言不同" in notice for notice in own.notices)


async def test_words_of_the_question_that_no_source_has_are_named(documents: LocalSearcher) -> None:
    report = await write("How loud is the door alarm of the helicopter, and why doesn't it sound in 1987?", documents)
    assert report.notices[0] == "No source searched has these words of the question: “helicopter”, “loud”, “1987”."
    assert not any("No source" in notice for notice in (await write("When does the door alarm sound?", documents)).notices)


async def test_the_small_words_of_a_french_question_match_nothing(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "notes.txt").write_text(
        "The de facto head of the board is from La Paz, and so is the door of the cellar.\n"
    )
    with open_local(tmp_path / "home", Collection(name="docs", kind=CorpusKind.FOLDER, path=str(tmp_path / "docs"))) as searcher:
        nothing = await write("Quel est le prix de la porte ?", searcher)
        near = await write("Quelle est la fonction de Paz dans la maison ?", searcher)
    assert nothing.quotes == ()
    assert "another language" in near.notices[0]


async def test_the_best_rated_statement_stands_first_whatever_is_before_it_in_its_source(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    before = "".join(f"- Check the seal of door {n} every week\n" for n in "abcdef")
    (tmp_path / "docs" / "list.md").write_text(
        f"# Doors\n\nOn each round:\n\n{before}- Close the cellar door with the red bolt\n"
    )
    collection = Collection(name="docs", kind=CorpusKind.FOLDER, path=str(tmp_path / "docs"))
    with open_local(tmp_path / "home", collection, encoder=WordEncoder, rater=WordRater()) as searcher:
        report = await write("How do I close the cellar door with the bolt?", searcher)
    assert report.sections[0].body.startswith("“Close the cellar door with the red bolt")


async def test_a_misspelt_word_is_read_as_the_sources_have_it(documents: LocalSearcher) -> None:
    report = await write("What does a compresor cost?", documents)
    assert "compresor" in report.notices[0]
    assert "compressor" in report.notices[0]
    assert "compressor" in report.sections[0].body


@pytest.mark.parametrize(
    ("question", "meant"),
    [("Ist es möglich, den Alarm abzustellen?", "gleich"), ("Quelle réponse donne le serveur?", "ponce")],
)
async def test_a_word_with_accents_is_not_cut_into_misspelt_words(tmp_path: Path, question: str, meant: str) -> None:
    for number in range(3):
        (tmp_path / f"{number}.txt").write_text(f"Alarm {number}: das Relais {meant} wird le serveur {meant} {number} mal.")
    collection = Collection(name="docs", kind=CorpusKind.FOLDER, path=str(tmp_path))
    with open_local(tmp_path / "home", collection) as searcher:
        report = await write(question, searcher)
    assert not any(meant in notice for notice in report.notices)


async def test_sources_stand_in_order_of_time_where_the_reader_wishes_it(documents: LocalSearcher) -> None:
    question = "Which freezer compressor, and who keeps the key of the freezer?"
    report = await write(question, documents, writer=WriterSettings(arrangement=Arrangement.TIME))
    dates = [quote.source.published for quote in report.quotes if quote.source.published]
    assert dates == sorted(dates)


async def test_the_form_that_a_reader_chose_is_followed_as_far_as_quotations_can(documents: LocalSearcher) -> None:
    style = ReportStyle(format=ReportFormat.TABLE_FIRST, tone=Tone.PLAIN)
    report = await write("When does the door alarm sound?", documents, style=style)
    assert report.sections[0].heading == "At a glance"
    assert report.sections[0].body.count("\n|") >= 2
    assert any("tone" in notice for notice in report.notices)
    bullets = await write("When does the door alarm sound?", documents, style=ReportStyle(format=ReportFormat.BULLETS))
    assert all(block.startswith(("- ", "|")) for section in bullets.sections for block in section.body.split("\n\n"))


async def test_each_citation_is_of_a_quote_of_the_report(documents: LocalSearcher) -> None:
    report = await write("Tell me all about the freezer", documents)
    keys = {key for section in report.sections for key in MARKER.findall(section.body)}
    assert keys == {quote.key for quote in report.quotes}


async def test_what_is_far_less_relevant_than_the_best_is_kept_for_later_and_not_shown(documents: LocalSearcher) -> None:
    report = await write("When does the door alarm sound?", documents)
    found = Finding(subtask_id="s1", quotes=report.quotes[:2], relevance=(1.0, 0.3), stop=StopReason.SUFFICIENT)
    plan = ResearchPlan(title="t", subtasks=(Subtask(id="s1", title="t", question="q"),))
    query = ResearchQuery(question="When does the door alarm sound?")
    shown = await write_brief(query, plan, (found,), SimpleNamespace(bounds=bounds_of(query)))
    assert shown.quotes == report.quotes[:1]
