"""What stands before a sentence and is none of it, and which words make a heading."""

import pytest

from app.domain.evidence import Passage, Source, snapshot_hash
from workflows.agents.extractive.aspects import find_aspects
from workflows.agents.extractive.cues import can_answer
from workflows.agents.extractive.phrasing import counting
from workflows.agents.extractive.question import analyse
from workflows.agents.extractive.relevance import Lens
from workflows.agents.extractive.senses import as_verbs
from workflows.agents.extractive.sentences import Sentence, sentences_of


def passage(text: str, url: str = "https://a.example/1") -> Passage:
    source = Source(title="Notes", url=url, snapshot=snapshot_hash(text))
    return Passage(source=source, text=text, start=0, end=len(text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "- We keep the price of a seat.\n- Discounts need approval.",
            ["We keep the price of a seat.", "Discounts need approval."],
        ),
        ("1. Store a key for each invoice.\n2) Raise the limit.", ["Store a key for each invoice.", "Raise the limit."]),
        ("RESULTS Statins lowered it. CONCLUSION: They should be used.", ["Statins lowered it.", "They should be used."]),
        ("OBJECTIVE To learn whether it helps.", ["OBJECTIVE To learn whether it helps."]),
        (
            "You are going to like this.\n\n[Applause]\n\n[Laughter] And so it was.",
            ["You are going to like this.", "And so it was."],
        ),
        ("1912 was a year of plenty.", ["1912 was a year of plenty."]),
    ],
)
def test_marks_of_lists_labels_and_the_room_are_not_quoted(text: str, said: list[str]) -> None:
    found = sentences_of(passage(text))
    assert [sentence.text for sentence in found] == said
    assert all(text[sentence.start : sentence.end] == sentence.text for sentence in found)


def test_what_comes_after_applause_does_not_lean_on_what_came_before() -> None:
    said = sentences_of(passage("You are going to like this.\n\n[Applause]\n\nAnd so it was. It went on."))
    assert [sentence.before.text if sentence.before else "" for sentence in said] == ["", "", "And so it was."]


def test_a_heading_is_a_noun() -> None:
    """An adjective after an article has its noun or another adjective after it, a verb after "that" its object."""
    text = "In year {0} a strong and growing economy needs the tax, or laws that protect the trade against the recession."
    other = "In year {0} the boats came home late from the sea."
    spoken: list[tuple[bool, Sentence]] = []
    for number in range(6):
        address = f"https://a.example/{number}"
        spoken += [(True, sentence) for sentence in sentences_of(passage(text.format(number), address))]
        spoken += [
            (False, sentence) for n in range(5) for sentence in sentences_of(passage(other.format(10 * number + n), address))
        ]
    phrases = {phrase for aspect in find_aspects(spoken, 9, frozenset()) for phrase in aspect.phrases}
    assert phrases & {"tax", "recession", "trade"}
    assert phrases.isdisjoint({"strong", "protect"})


@pytest.mark.parametrize(
    ("text", "verbs"),
    [
        ("I trust that it will pass.", {"trust"}),
        ("I trust that the trusts obey.", set()),
        ("We do not press forward.", {"press"}),
        ("A free press is a blessing.", set()),
    ],
)
def test_a_noun_of_the_question_is_not_met_in_a_verb(text: str, verbs: set[str]) -> None:
    assert as_verbs(text, frozenset({"trust", "press"})) == verbs


def test_a_figure_of_the_question_does_not_answer_how_many() -> None:
    asked = "How many treaties were signed in 1850?"
    assert not can_answer(asked, "The treaty of 1850 was signed.")
    assert can_answer(asked, "In 1850 twelve treaties were signed.")


def test_a_title_speaks_for_what_stands_below_it() -> None:
    """A page on pricing need not say "pricing" with each decision."""
    lens = Lens(analyse("What did we decide about pricing?"))
    decided = "We decided to charge a monthly fee from April on, because support had become expensive."

    def score(title: str, text: str) -> float:
        source = Source(title=title, url="https://a.example/1", snapshot=snapshot_hash(text))
        return lens.score(sentences_of(Passage(source=source, text=text, start=0, end=len(text)))[0])

    called = "Pricing was raised by the callers in every third call that the team took."
    assert score("Pricing", decided) >= score("Support", called) > score("Support", decided)


def test_one_is_singular() -> None:
    assert counting("{found} statements from {sources} sources", found=1, sources=21) == "1 statement from 21 sources"
