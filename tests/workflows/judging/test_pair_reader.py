"""A learned judge beside the rules: what it may decide, and what is said of one that cannot be read."""

import json
from pathlib import Path

import pytest

from app.domain.claims import Support
from app.domain.errors import SetupError
from app.domain.query import Language
from workflows.checks.grading import Evidence, PairReading, load_grader
from workflows.judging.claim_grading import can_read, grade_claim, load_pair_reader
from workflows.judging.offline_judge import reason_of
from workflows.judging.pair_reader import CLOSE, HASHED, JUDGE, PairReader, measure_copied

BRIDGE = Evidence(
    "Harle Bridge",
    ["Harle Bridge was built in 1871 by the Corran Company.", "In heavy storms the bridge is usually closed to carts."],
)
DOUBTED = PairReading(-4.0, 0.0, doubted=True)


def test_a_reading_lifts_no_veto() -> None:
    number = "Harle Bridge was built in 1891 by the Corran Company."
    assert load_grader().grade(number, BRIDGE, reading=PairReading(8.0, -8.0)).support is not Support.FULL


def test_only_what_follows_its_evidence_closely_may_be_doubted() -> None:
    turned, free = "In heavy storms the bridge is usually open to carts.", "Carts may cross it in storms."
    assert measure_copied(turned, BRIDGE.sentences) >= CLOSE > measure_copied(free, BRIDGE.sentences)


def test_a_doubted_claim_is_not_fully_supported_and_says_so() -> None:
    claim = "The Corran Company built Harle Bridge in 1871."
    assert load_grader().grade(claim, BRIDGE).support is Support.FULL
    doubted = load_grader().grade(claim, BRIDGE, reading=DOUBTED)
    assert doubted.support is Support.PARTIAL
    assert reason_of(doubted, Language.ENGLISH) == "The cited passage may not say this."


def test_chinese_claims_are_left_to_the_rules() -> None:
    assert not can_read("这座桥建于1871年。")
    assert grade_claim("这座桥建于1871年。", Evidence("桥", ["这座桥建于1871年，由一家公司出资。"])).support is Support.FULL


def test_without_a_judge_the_rules_judge_alone() -> None:
    assert load_pair_reader() is None
    assert grade_claim("The Corran Company built Harle Bridge in 1871.", BRIDGE).support is Support.FULL


def test_a_judge_that_cannot_be_read_is_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"has no file judge\.json"):
        PairReader(tmp_path)
    (tmp_path / JUDGE).write_text(json.dumps({"limits": {"doubted": 0}, "sha256": dict.fromkeys(HASHED, "0")}))
    for name in HASHED:
        (tmp_path / name).write_bytes(b"another")
    with pytest.raises(SetupError, match=r"encoder\.onnx does not belong"):
        PairReader(tmp_path)
