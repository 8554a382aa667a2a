"""The learned judge as it is shipped: its files, what it reads, and what the rules keep for themselves."""

import hashlib
import json
import logging
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from app.domain.claims import Support
from app.domain.errors import SetupError
from app.domain.query import Language
from workflows.checks.grading import Evidence, PairReading, load_grader
from workflows.judging import pair_reader
from workflows.judging.claim_grading import grade_claim
from workflows.judging.offline_judge import reason_of
from workflows.judging.pair_reader import CLOSE, FOLDER, HASHED, JUDGE, PairReader, can_read, load_pair_reader, measure_copied

FILES = Path(pair_reader.__file__).with_name(FOLDER)
MOST_BYTES = 8_000_000
BRIDGE = Evidence(
    "Harle Bridge",
    ["Harle Bridge was built in 1871 by the Corran Company.", "In heavy storms the bridge is usually closed to carts."],
)
DOUBTED = PairReading(-4.0, 0.0, doubted=True)


def test_the_models_are_small_and_are_those_that_belong_together() -> None:
    told = json.loads((FILES / JUDGE).read_text())
    assert {name: hashlib.sha256((FILES / name).read_bytes()).hexdigest() for name in HASHED} == told["sha256"]
    assert sum(path.stat().st_size for path in FILES.glob("*.onnx")) <= MOST_BYTES


def test_a_claim_is_read_without_torch() -> None:
    program = (
        "import sys\n"
        "from workflows.checks.grading import Evidence\n"
        "from workflows.judging.claim_grading import read_pair\n"
        "assert read_pair('A claim of six words here.', Evidence('', ['Some evidence that is short.']))\n"
        "assert not {'torch', 'transformers'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_statement_reads_better_than_what_its_evidence_does_not_say() -> None:
    reader = load_pair_reader()
    assert reader
    said = reader.read("The Corran Company built the bridge in 1871.", BRIDGE)
    other = reader.read("The bridge was sold to a museum in Lisbon.", BRIDGE)
    opposite = reader.read("In heavy storms the bridge is usually open to carts.", BRIDGE)
    assert said
    assert other
    assert opposite
    assert said.stated > max(other.stated, opposite.stated)
    assert opposite.opposed > max(said.opposed, other.opposed)


@pytest.mark.parametrize(
    ("claim", "sentences"), [("", [""]), ("?!", ["One."]), ("x" * 5_000, ["y " * 5_000]), ("A b.", ["", ""])]
)
def test_odd_pairs_are_read_or_left_out(claim: str, sentences: list[str]) -> None:
    reader = load_pair_reader()
    assert reader
    reading = reader.read(claim, Evidence("", sentences))
    assert reading is None or abs(reading.stated) < 20


def test_a_reading_lifts_no_veto() -> None:
    number = "Harle Bridge was built in 1891 by the Corran Company."
    assert load_grader().grade(number, BRIDGE, reading=PairReading(8.0, -8.0)).support is not Support.FULL


def test_only_what_follows_its_evidence_closely_is_doubted() -> None:
    reader = load_pair_reader()
    assert reader
    turned, free = "In heavy storms the bridge is usually open to carts.", "Carts may cross it in storms."
    assert measure_copied(turned, BRIDGE.sentences) >= CLOSE > measure_copied(free, BRIDGE.sentences)
    assert [reading and reading.doubted for reading in (reader.read(turned, BRIDGE), reader.read(free, BRIDGE))] == [True, False]


def test_a_doubted_claim_is_not_fully_supported_and_says_so() -> None:
    claim = "The Corran Company built Harle Bridge in 1871."
    assert load_grader().grade(claim, BRIDGE).support is Support.FULL
    doubted = load_grader().grade(claim, BRIDGE, reading=DOUBTED)
    assert doubted.support is Support.PARTIAL
    assert reason_of(doubted, Language.ENGLISH) == "The cited passage may not say this."


def test_chinese_claims_are_left_to_the_rules() -> None:
    assert not can_read("这座桥建于1871年。")
    assert grade_claim("这座桥建于1871年。", Evidence("桥", ["这座桥建于1871年，由一家公司出资。"])).support is Support.FULL


def test_without_its_files_the_rules_judge_alone_and_the_log_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(pair_reader, "FOLDER", "not_there")
    load_pair_reader.cache_clear()
    try:
        with caplog.at_level(logging.WARNING):
            assert grade_claim("The Corran Company built Harle Bridge in 1871.", BRIDGE).support is Support.FULL
    finally:
        load_pair_reader.cache_clear()
    assert "Claims are judged by rules alone: the learned judge of claims has no file judge.json" in caplog.text


def test_a_file_of_another_judge_is_refused(tmp_path: Path) -> None:
    shutil.copytree(FILES, tmp_path / "judge")
    (tmp_path / "judge" / "head.onnx").write_bytes(b"another")
    with pytest.raises(SetupError, match=r"head\.onnx does not belong"):
        PairReader(tmp_path / "judge")
