"""How a question is read: what of a text asks, what it is about, how it divides, what an answer has to hold."""

import pytest

from app.domain.query import Clarification, ResearchQuery
from workflows.agents.extractive.asking import asked_of, asking
from workflows.agents.extractive.cues import answer_cue, cue, makes_case
from workflows.agents.extractive.kinds import QuestionKind
from workflows.agents.extractive.names import as_itself
from workflows.agents.extractive.question import analyse
from workflows.agents.extractive.several import asked_apart
from workflows.agents.extractive.words import term_of


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Hello! I write for a school paper. Could you please tell me why the mill closed?", "Why the mill closed?"),
        ("My uncle was a sailor. Why did the port close? Thanks!", "Why did the port close?"),
        ("I am interested in the Ellery Canal. When did it open?", "When did the Ellery Canal open?"),
        ("I like Ann Smith and Bob Jones. When did he die?", "I like Ann Smith and Bob Jones. When did he die?"),
        ("What did Mr. Gray say about St. Ives?", "What did Mr. Gray say about St. Ives?"),
        ("Why did the U.S. enter World War I? Please be brief.", "Why did the U.S. enter World War I?"),
        ("Ann Lee owns a mill. Does Bob Lee also have one?", "Ann Lee owns a mill. Does Bob Lee also have one?"),
        ("Well water in Flint", "Well water in Flint"),
        ("请问总统们如何看待关税？", "总统们如何看待关税？"),
        ("Please write a detailed report on coffee and health.", "coffee and health."),
        ("Summarize the debate over internal improvements", "the debate over internal improvements"),
        ("Explain why the mill closed", "Why the mill closed"),
        ("Give me a short timeline of trade with Cuba", "a short timeline of trade with Cuba"),
        ("What role did the navy play in the war?", "the role of the navy in the war"),
        ("Review of evidence on statins", "Review of evidence on statins"),
        ("Find what governors said about tolls", "What governors said about tolls"),
    ],
)
def test_what_a_text_asks_is_told_from_what_stands_around_it(text: str, asked: str) -> None:
    assert asking(text) == asked


def test_what_was_answered_when_asked_back_stays_with_the_question() -> None:
    answer = Clarification(question="Which years?", answer="from 1880 to 1889")
    query = ResearchQuery(question="Thank you! Why did the mill close?", clarified=(answer,))
    assert asked_of(query) == "Why did the mill close?\nfrom 1880 to 1889"
    assert analyse(asked_of(query)).period == (1880, 1889)


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("Which reasons did presidents give for going to war?", {"war"}),
        ("Why did leaders oppose canals?", {"canal"}),
        ("How presidents thought railroads should be regulated?", {"railroad", "regul"}),
        ("How is tuberculosis treated?", {"tuberculosi", "treat"}),
        ("How did presidents treat miners?", {"miner"}),
        ("What are the pros and cons of tariffs?", {"tariff"}),
        ("Compare Gray's and Boyd's views of the bank.", {"gray", "boyd", "bank"}),
        ("Why did leaders fear strikes?", {"strike"}),
        ("What did leaders say about the fear of strikes?", {"fear", "strike"}),
        ("Did any president mention climate change?", {"climat", "chang"}),
        ("How did attitudes toward immigration change?", {"immigr"}),
        ("presidential views of China", {"china"}),
        ("Presidents on immigration", {"immigr"}),
        ("Give a timeline of trade with Cuba", {"trade", "cuba"}),
        ("What did leaders promise about health care, and did they disagree?", {"health", "care"}),
        ("Whether presidents supported women's suffrage", {"woman", "suffrag"}),
    ],
)
def test_a_subject_holds_neither_who_is_asked_nor_the_verb_of_asking(question: str, subject: set[str]) -> None:
    assert {term for term in analyse(question).subject_terms if not term.startswith("=")} == subject


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How did governors justify tolls?", QuestionKind.FOR),
        ("Why did governors oppose tolls?", QuestionKind.AGAINST),
        ("Who argued against the tolls?", QuestionKind.AGAINST),
        ("Why did governors oppose or support tolls?", QuestionKind.WHY),
        ("How did governors view tolls?", QuestionKind.VIEWS),
        ("How did governors speak of tolls?", QuestionKind.VIEWS),
        ("How did governors deal with strikes?", QuestionKind.VIEWS),
        ("Did any governor mention tolls?", QuestionKind.VIEWS),
        ("How did governors address climate change?", QuestionKind.VIEWS),
        ("How did the climate change?", QuestionKind.FACT),
        ("Tolls in the 1890s", QuestionKind.VIEWS),
        ("the history of tolls", QuestionKind.CHANGE),
        ("a short timeline of tolls", QuestionKind.CHANGE),
        ("Ann Lee was the governor.", QuestionKind.FACT),
        ("How much did the United States pay for the islands?", QuestionKind.FACT),
    ],
)
def test_the_kind_of_a_question_says_which_side_is_asked_for(question: str, kind: QuestionKind) -> None:
    assert analyse(question).kind is kind


@pytest.mark.parametrize(
    ("text", "apart"),
    [
        (
            "When did the Ellery Canal open and who argued against it?",
            ("When did the Ellery Canal open?", "Who argued against the Ellery Canal?"),
        ),
        ("How does malaria spread and how can it be prevented?", ("How does malaria spread?", "How can malaria be prevented?")),
        ("What is gout and what are its causes?", ("What is gout?", "What are gout's causes?")),
        ("What did Gray and Boyd say about the mill and why did they differ?", ()),
        ("Who directed the film that was shot in Leland and what is it about?", ()),
    ],
)
def test_a_second_question_that_points_back_stands_alone_with_the_thing_named(text: str, apart: tuple[str, ...]) -> None:
    assert asked_apart(text) == apart


def test_two_who_are_asked_to_have_spoken_are_sides() -> None:
    assert analyse("What did Gray and Boyd say about the mill?").sides == ("Gray", "Boyd")
    assert analyse("What did Gray say about the mill?").sides == ()


def test_a_question_of_what_a_party_paid_is_no_question_within_a_question() -> None:
    assert analyse("How much did the United States pay for Alaska?").closed
    assert not analyse("How much did the maker of Alaska pay?").closed


def test_reasons_count_by_how_near_the_subject_they_stand_and_objections_justify_nothing() -> None:
    near = "The toll was raised because the road had to be kept."
    far = "The toll was raised, as all who travelled that way in the autumn of that year will remember, because bread was dear."
    subject = analyse("Why was the toll raised?").subject_terms
    assert cue(QuestionKind.WHY, near, subject) > cue(QuestionKind.WHY, far, subject) > 0
    assert makes_case(QuestionKind.FOR, "The toll protects those who keep the road.")
    assert not makes_case(QuestionKind.FOR, "The toll is an unjust burden and protects nobody.")


def test_what_a_thing_is_is_said_by_a_definition() -> None:
    question = "What is the Ellery Doctrine?"
    assert answer_cue(question, "The Ellery Doctrine is a declaration of the ports.") > 0
    assert answer_cue(question, "The Ellery Doctrine should be kept by all.") == 0
    assert answer_cue("What is the Ellery Doctrine worth?", "The Ellery Doctrine is a declaration of the ports.") == 0


@pytest.mark.parametrize(
    ("text", "itself"),
    [
        ("The war began in spring.", True),
        ("The Secretary of War reports.", False),
        ("The war debts are paid.", False),
        ("They remembered the war.", True),
    ],
)
def test_a_word_within_a_name_or_before_another_noun_is_not_the_subject_itself(text: str, itself: bool) -> None:
    assert as_itself(text, {"war"}, as_noun=True) is itself


def test_a_general_word_tells_little_however_seldom_its_form_is_met() -> None:
    weights = analyse("What are stem cells used for?").telling_weights
    assert weights[term_of("used")] < min(weights["stem"], weights["cell"])


def test_forms_that_no_stemmer_brings_together_are_one_term() -> None:
    assert term_of("paid") == term_of("pays")
    assert term_of("women") == term_of("woman's")
    assert term_of("going") == ""


def test_two_decades_are_one_period() -> None:
    assert analyse("What problems did farmers face in the 1920s and 1930s?").period == (1920, 1939)
    assert analyse("How did prices move from the 1890s to the 1860s?").period == (1860, 1899)


def test_what_was_said_in_a_year_is_looked_for_in_its_sources_and_what_happened_in_it_in_all() -> None:
    said = analyse("What did Gray say about tolls in 1906?")
    assert (said.period, said.subject_terms) == ((1906, 1906), {"toll"})
    happened = analyse("Why did tolls rise in 1906?")
    assert not happened.period
    assert "1906" in happened.subject_terms


def test_relations_are_relationships() -> None:
    assert analyse("the relationship with Mexico").subject_terms == analyse("relations with Mexico").subject_terms


def test_a_verb_of_effect_has_its_subject_on_either_side() -> None:
    assert analyse("How does diabetes affect the kidneys?").subject_terms == {term_of("diabetes"), term_of("kidneys")}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("What did presidents not want to do about trade?", "not"),
        ("Which banks didn't fail?", "didn't"),
        ("Why did presidents oppose what was not proved?", ""),
        ("Did it matter or not?", ""),
        ("What did presidents say about trade?", ""),
    ],
)
def test_a_question_for_what_is_not_so_is_known_for_one(text: str, word: str) -> None:
    assert analyse(text).negation == word
