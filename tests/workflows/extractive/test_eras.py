"""Times that a question calls by a name, as the years to read for them."""

from datetime import date

import pytest

from app.domain.evidence import Passage, Source, snapshot_hash
from workflows.agents.extractive.eras import era_reading
from workflows.agents.extractive.hits import Hit, hit_of
from workflows.agents.extractive.question import analyse


def hits(*published: date | None) -> list[Hit]:
    """A passage from each of these days."""
    text = "Tolls were raised."
    sources = (
        Source(title="Notes", url=f"https://a.example/{n}", snapshot=snapshot_hash(text), published=day)
        for n, day in enumerate(published)
    )
    return [hit_of(Passage(source=source, text=text, start=0, end=len(text))) for source in sources]


DATED = hits(date(1850, 1, 1), date(1950, 1, 1), None)


@pytest.mark.parametrize(
    ("question", "written", "read"),
    [
        ("How did tolls rise before the Civil War?", "before the Civil War", "before 1861"),
        ("Why did tolls rise after the end of World War II?", "after the end of World War II", "since 1945"),
        ("Tolls since the outbreak of the first world war", "since the outbreak of the first world war", "since 1914"),
        (
            "Why were tolls hated in the years following the Spanish Civil War?",
            "in the years following the Spanish Civil War",
            "since 1939",
        ),
        ("Who paid tolls during the Great Depression?", "during the Great Depression", "from 1929 to 1939"),
        ("总统们在二战以后如何看待关税？", "在二战以后", "1945年以后"),
        ("冷战期间的关税", "冷战期间", "1947年至1991年期间"),
    ],
)
def test_a_named_time_is_read_as_years_that_the_question_then_asks_for(question: str, written: str, read: str) -> None:
    reading = era_reading(analyse(question), DATED)
    assert reading is not None
    assert (reading.written, reading.read, reading.years) == (written, read, True)
    assert analyse(question.replace(written, read)).period


@pytest.mark.parametrize(
    "question",
    [
        "What happened during the Civil War?",
        "Which laws followed the Civil War?",
        "How did tolls rise after the Syrian Civil War?",
        "How did tolls rise between 1840 and 1850, before the Civil War?",
        "Who wrote After the Prohibition-Era Toll?",
        "How did tolls rise before the bridge was built?",
    ],
)
def test_what_names_no_time_beside_a_subject_stays_as_it_is(question: str) -> None:
    assert era_reading(analyse(question), DATED) is None


def test_among_sources_without_dates_a_time_stays_a_word_to_look_for() -> None:
    question = analyse("How did tolls rise before the Civil War?")
    assert era_reading(question, []) is None
    assert era_reading(question, hits(None, None, date(1850, 1, 1))) is None
