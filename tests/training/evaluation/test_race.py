"""RACE: worked by hand, against published figures, and where the official script is too kind."""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.errors import InvalidInput
from app.domain.missing import Missing
from app.domain.race_rubric import RaceCriterion, RaceDimension, RaceRubric
from bench.labelled_sets import DATA
from bench.race import measure_published_difference, score_file
from training.evaluation.race import (
    JudgedCriterion,
    Judgement,
    RaceScore,
    mean_scores,
    race_score,
)
from training.evaluation.race_files import read_criteria, read_judgements, read_rows

DRB = DATA / "drb"
needs_drb = pytest.mark.skipif(not DRB.is_dir(), reason="DeepResearch Bench is not at ../shared/data/drb")
D = RaceDimension


def criterion(text: str, weight: float) -> RaceCriterion:
    return RaceCriterion(criterion=text, weight=weight)


CRITERIA = RaceRubric(
    weights={D.INSIGHT: 0.6, D.READABILITY: 0.4},
    criteria={
        D.INSIGHT: (criterion("goes deep", 0.75), criterion("is new", 0.25)),
        D.READABILITY: (criterion("is clear", 1.0),),
    },
)
JUDGEMENT: Judgement = {
    D.INSIGHT: [JudgedCriterion("goes deep", 8, 6), JudgedCriterion("is new", 4, 10)],
    D.READABILITY: [JudgedCriterion("is clear", 9, 9)],
}


def score_race(criteria: RaceRubric = CRITERIA, judgement: Judgement = JUDGEMENT, official: bool = False) -> RaceScore:
    found = race_score(criteria, judgement, official)
    assert isinstance(found, RaceScore)
    return found


def test_by_hand() -> None:
    """Insight: 7 of the report, 7 of the reference. Readability: 9 and 9."""
    even = score_race()
    assert even.dimensions == {D.INSIGHT: 0.5, D.READABILITY: 0.5}
    assert even.overall == 0.5
    better = score_race(judgement={**JUDGEMENT, D.READABILITY: [JudgedCriterion("is clear", 9, 3)]})
    assert better.dimensions[D.READABILITY] == 0.75
    assert better.overall == pytest.approx((0.6 * 7 + 0.4 * 9) / (0.6 * 7 + 0.4 * 9 + 0.6 * 7 + 0.4 * 3))


def test_only_proportions_of_weights_count() -> None:
    larger = RaceRubric(
        weights={d: 30 * w for d, w in CRITERIA.weights.items()},
        criteria={d: tuple(criterion(c.criterion, 7 * c.weight) for c in cs) for d, cs in CRITERIA.criteria.items()},
    )
    judgement = {**JUDGEMENT, D.INSIGHT: [JudgedCriterion("goes deep", 9, 2), JudgedCriterion("is new", 1, 5)]}
    assert score_race(larger, judgement).overall == pytest.approx(score_race(judgement=judgement).overall)


def test_an_unscored_criterion_is_an_error_where_the_official_script_drops_it() -> None:
    partial = {**JUDGEMENT, D.INSIGHT: [JudgedCriterion("goes deep", 8, 2)]}
    strict = race_score(CRITERIA, partial)
    assert isinstance(strict, Missing)
    assert "is new" in strict.reason
    assert score_race(judgement=partial, official=True).dimensions[D.INSIGHT] == 0.8


def test_a_name_in_part_is_no_match() -> None:
    """The official script gives "deep" the weight of "goes deep", and an invented criterion the mean weight."""
    loose = {**JUDGEMENT, D.INSIGHT: [JudgedCriterion("Deep", 10, 0), JudgedCriterion("invented", 0, 10)]}
    assert isinstance(race_score(CRITERIA, loose), Missing)
    assert score_race(judgement=loose, official=True).dimensions[D.INSIGHT] == pytest.approx(0.75 * 10 / (0.75 * 10 + 0.5 * 10))


@pytest.mark.parametrize("extra", [JudgedCriterion("goes deep", 10, 0), JudgedCriterion("never asked", 10, 0)])
def test_what_was_not_asked_for_is_not_scored(extra: JudgedCriterion) -> None:
    assert isinstance(race_score(CRITERIA, {**JUDGEMENT, D.INSIGHT: [*JUDGEMENT[D.INSIGHT], extra]}), Missing)


def test_two_reports_without_a_point_are_equal() -> None:
    nothing: Judgement = {d: [JudgedCriterion(c.criterion, 0, 0) for c in found] for d, found in JUDGEMENT.items()}
    assert score_race(judgement=nothing).overall == 0.5
    assert score_race(judgement=nothing, official=True).overall == 0.0


@pytest.mark.parametrize("score", [-1, 10.5, float("nan")])
def test_a_score_off_the_scale_is_refused(score: float) -> None:
    with pytest.raises(ValueError, match="0 to 10"):
        race_score(CRITERIA, {**JUDGEMENT, D.READABILITY: [JudgedCriterion("is clear", score, 1)]})


points = st.integers(0, 10).map(float)


@given(st.lists(points, min_size=6, max_size=6))
def test_bounds_symmetry_and_monotonicity(given_points: list[float]) -> None:
    a, b, c, x, y, z = given_points

    def of(p: float, q: float, r: float, s: float, t: float, u: float) -> RaceScore:
        return score_race(
            judgement={
                D.INSIGHT: [JudgedCriterion("goes deep", p, s), JudgedCriterion("is new", q, t)],
                D.READABILITY: [JudgedCriterion("is clear", r, u)],
            }
        )

    one, other = of(a, b, c, x, y, z), of(x, y, z, a, b, c)
    assert 0.0 <= one.overall <= 1.0
    assert one.overall + other.overall == pytest.approx(1.0)
    if a < 10 and (x or y or z):
        assert of(a + 1, b, c, x, y, z).overall >= one.overall


def test_the_mean_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="no scored task"):
        mean_scores([])


@needs_drb
def test_the_published_summary_to_its_last_digit() -> None:
    assert measure_published_difference(DRB) == 0.0


@needs_drb
def test_the_real_criteria_are_read_and_can_be_scored() -> None:
    criteria = read_criteria(DRB / "criteria.jsonl.gz")
    assert len(criteria) == 100
    assert sum(len(cs) for task in criteria.values() for cs in task.criteria.values()) == 2_517
    for task in criteria.values():
        assert sum(task.weights.values()) == pytest.approx(1.0, abs=0.02)
        all_eight: Judgement = {d: [JudgedCriterion(c.criterion, 8, 8) for c in cs] for d, cs in task.criteria.items()}
        assert race_score(task, all_eight) == RaceScore(dict.fromkeys(task.weights, 0.5), 0.5)


def test_a_file_of_judgements_is_scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    criteria, judged = tmp_path / "c.jsonl.gz", tmp_path / "j.jsonl"
    task = {
        "id": 7,
        "dimension_weight": {"insight": 1.0},
        "criterions": {"insight": [{"criterion": "goes deep", "explanation": "", "weight": 1}]},
    }
    with gzip.open(criteria, "wt") as file:
        file.write(json.dumps(task) + "\n")
    good = {"id": 7, "judgement": {"insight": [{"criterion": "goes deep", "article_1_score": 9, "article_2_score": 3}]}}
    judged.write_text(json.dumps(good) + "\n" + json.dumps({"id": 8, "judgement": {}}) + "\n")
    score_file(judged, criteria)
    said = capsys.readouterr().out
    assert "7: insight 0.7500" in said
    assert "8: not scored" in said
    assert json.loads(said.splitlines()[-1])["figures"] == {"insight": 0.75, "overall_score": 0.75, "tasks": 1, "missing": 1}
    assert read_judgements(judged)[7][D.INSIGHT] == [JudgedCriterion("goes deep", 9, 3)]


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "b.jsonl"
    broken.write_text('{"id": 1}\n{"id": \n')
    with pytest.raises(InvalidInput, match="line 2"):
        list(read_rows(broken))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("missing.jsonl", None, "cannot be read"),
        ("list.jsonl", b"[1, 2]\n", "line 1: an object"),
        ("latin.jsonl", b"\xff\xfe{}", "utf-8"),
        ("plain.jsonl.gz", b"not gzipped", "cannot be read"),
        ("short.jsonl.gz", gzip.compress(b'{"id": 1}\n' * 99, mtime=0)[:-20], "end-of-stream|ended before"),
        ("bare.jsonl", b'{"id": 7}\n', "task 7: the field 'dimension_weight' is missing"),
        ("odd.jsonl", b'{"id": 7, "dimension_weight": [], "criterions": {}}\n', "task 7"),
    ],
)
def test_what_is_no_file_of_criteria_says_why(tmp_path: Path, name: str, content: bytes | None, said: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInput, match=said):
        read_criteria(tmp_path / name)
