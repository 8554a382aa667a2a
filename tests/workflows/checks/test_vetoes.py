"""What is kept from full support, and what is not, on one passage in each language."""

import pytest

from app.domain.claims import Support
from retrieval.language.sentences import list_sentences
from workflows.checks.grading import Evidence, grade_claim
from workflows.checks.vetoes.reasons import VetoReason
from workflows.checks.vetoes.veto import find_veto

MILL = Evidence(
    "Corran Mill",
    list_sentences(
        "Corran Mill was built by Thomas Reed in 1803 and lies 12 kilometres north of Arden. It employed about 400 "
        "workers, most of them women. The fire of June 1850 may have started in the dyeing room. Production fell because "
        "the river was diverted. Reed sold the second largest wheel to Ana Duval before the war. The mill did not reopen "
        "after 1851, although the council plans to restore it."
    ),
)
GARDEN = Evidence(
    "南山植物园",
    list_sentences(
        "南山植物园建于1962年4月，由园艺家周文达设计，占地约35公顷。园内植物大多来自热带地区，其中兰花120种。2008年的霜冻使温室植物减少了三成。"
        "专家认为霜冻可能与寒潮有关。植物园计划在2027年开放新馆。园内没有餐厅。"
    ),
)


def grade(claim: str, evidence: Evidence) -> Support:
    return grade_claim(claim, evidence).support


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ("Corran Mill was built by Thomas Read in 1803.", VetoReason.NAME),
        ("Corran Mill was built by Thomas Reed in 1813.", VetoReason.NUMBER),
        ("Corran Mill lies 12 miles north of Arden.", VetoReason.NUMBER),
        ("Corran Mill lies 12 kilometres south of Arden.", VetoReason.OPPOSITE),
        ("The mill employed at least 400 workers.", VetoReason.BOUND),
        ("All of the workers were women.", VetoReason.QUANTITY),
        ("The fire of July 1850 may have started in the dyeing room.", VetoReason.NUMBER),
        ("The fire of June 1850 started in the dyeing room.", VetoReason.OPEN),
        ("Corran Mill undoubtedly lies 12 kilometres north of Arden.", VetoReason.CERTAIN),
        ("Production rose because the river was diverted.", VetoReason.OPPOSITE),
        ("The river was diverted because production fell.", VetoReason.RELATION),
        ("Ana Duval sold the second largest wheel to Reed before the war.", VetoReason.ROLES),
        ("Reed sold the second largest wheel to Ana Duval after the war.", VetoReason.RELATION),
        ("The mill reopened after 1851.", VetoReason.NEGATION),
        ("Only Thomas Reed built Corran Mill in 1803.", VetoReason.ONLY),
        ("Corran Mill was built by Thomas Reed in 1803 and won a medal in a contest.", VetoReason.WORDS),
    ],
)
def test_an_english_falsehood_is_caught_for_its_reason(claim: str, reason: VetoReason) -> None:
    veto = find_veto(claim, MILL.title, tuple(MILL.sentences))
    assert veto is not None
    assert veto.reason is reason
    assert grade(claim, MILL) is not Support.FULL


@pytest.mark.parametrize(
    "claim",
    [
        "In 1803, Thomas Reed built Corran Mill.",
        "The mill is situated 12 km to the north of Arden.",
        "Most of the roughly four hundred workers were women.",
        "The fire in June 1850 possibly began in the dyeing room.",
        "Because the river was diverted, production declined.",
        "Before the war, Reed sold the second largest wheel to Ana Duval.",
        "The council intends to restore the mill.",
    ],
)
def test_an_honest_english_paraphrase_is_fully_supported(claim: str) -> None:
    assert grade(claim, MILL) is Support.FULL


LOOM = Evidence("Looms", ["Tests showed that the 4200 loom wove up to twice slower than the Arkwright in cold damp weather."])


def test_a_comparison_may_put_its_circumstance_first_but_not_change_its_sides() -> None:
    assert grade("In cold damp weather the 4200 loom wove up to twice slower than the Arkwright.", LOOM) is Support.FULL
    assert grade("The Arkwright wove up to twice slower than the 4200 loom in cold damp weather.", LOOM) is not Support.FULL


def test_all_in_a_turn_of_phrase_is_no_quantity() -> None:
    evidence = Evidence("Reed", ["Reed watched the dyeing room closely, especially the choice of colours."])
    assert grade("Reed watched the dyeing room closely, above all the choice of colours.", evidence) is Support.FULL


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ("南山植物园建于1952年4月。", VetoReason.NUMBER),
        ("南山植物园建于1962年6月。", VetoReason.NUMBER),
        ("南山植物园占地约35平方公里。", VetoReason.NUMBER),
        ("园内植物全部来自热带地区。", VetoReason.QUANTITY),
        ("2008年的霜冻使温室植物增加了三成。", VetoReason.OPPOSITE),
        ("霜冻与寒潮有关。", VetoReason.OPEN),
        ("植物园在2027年开放了新馆。", VetoReason.OPEN),
        ("园内有餐厅。", VetoReason.OPPOSITE),
        ("南山植物园由园艺家周文清设计。", VetoReason.WORDS),
        ("南山植物園建於1952年4月。", VetoReason.NUMBER),
    ],
)
def test_a_chinese_falsehood_is_caught_for_its_reason(claim: str, reason: VetoReason) -> None:
    veto = find_veto(claim, GARDEN.title, tuple(GARDEN.sentences))
    assert veto is not None
    assert veto.reason is reason
    assert grade(claim, GARDEN) is not Support.FULL


@pytest.mark.parametrize(
    "claim",
    [
        "园艺家周文达设计了南山植物园。",
        "园内有120种兰花。",
        "南山植物園於1962年4月建成。",
        "植物园打算在2027年开放新馆。",
        "2008年，霜冻使温室植物减少了30%。",
    ],
)
def test_an_honest_chinese_paraphrase_is_fully_supported(claim: str) -> None:
    assert grade(claim, GARDEN) is Support.FULL


def test_a_sentence_is_fully_supported_by_itself() -> None:
    for evidence in (MILL, GARDEN):
        assert all(grade(sentence, evidence) is Support.FULL for sentence in evidence.sentences)
