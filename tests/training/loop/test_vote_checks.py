"""What votes must have before anything learns from them."""

from app.domain.retraining import DataChecks, StepVerdict
from app.preferences.nouns.feedback import PreferencePair, ShownSide
from tests.training.loop.reader_export import make_pair
from training.loop.check import judge_votes
from training.loop.check_page import list_tables
from training.loop.vote_checks import CheckedVotes, leave_out, measure_agreement

CHECKS = DataChecks()


def leave(pairs: list[PreferencePair], checks: DataChecks = CHECKS) -> CheckedVotes:
    return leave_out(pairs, [], checks)


def judge(pairs: list[PreferencePair]) -> tuple[StepVerdict, str]:
    outcome = judge_votes(leave(pairs), CHECKS)
    return outcome.verdict, outcome.detail


def test_enough_votes_of_enough_people_are_learned_from() -> None:
    assert judge([make_pair(n) for n in range(120)]) == (StepVerdict.DONE, "")


def test_votes_of_milliseconds_are_left_out() -> None:
    kept = leave([make_pair(n, seconds=0.018 if n < 30 else 20.0) for n in range(120)])
    assert len(kept.pairs) == 90
    assert kept.left_out["too quick"] == 30


def test_one_reader_with_two_hundred_votes_does_not_outweigh_the_others() -> None:
    others = [make_pair(n) for n in range(100)]
    eager = [make_pair(n, reader="eager", organisation=f"organisation-{n % 5}") for n in range(100, 300)]
    kept = leave([*others, *eager])
    own = sum(pair.reader == "eager" for pair in kept.pairs)
    assert own / len(kept.pairs) <= CHECKS.most_share
    assert own == 33
    assert sum(pair.reader != "eager" for pair in kept.pairs) == 100
    assert kept.left_out["too many of one reader"] == 167


def test_one_organisation_does_not_outweigh_the_others() -> None:
    large = [make_pair(n, reader=f"r{n}", organisation="large") for n in range(100, 400)]
    kept = leave([*(make_pair(n) for n in range(60)), *large])
    assert sum(pair.organisation == "large" for pair in kept.pairs) == 20


def test_too_few_votes_and_readers_are_counted() -> None:
    verdict, detail = judge([make_pair(n, reader=f"r{n % 3}") for n in range(60)])
    assert verdict is StepVerdict.LACKING
    assert detail == "there are 60 decided pairs of 100 and 3 readers of 5"


def test_no_vote_at_all_lacks_data() -> None:
    assert judge([])[0] is StepVerdict.LACKING


def test_readers_who_choose_a_side_are_refused() -> None:
    verdict, detail = judge([make_pair(n, accepted_shown=ShownSide.LEFT if n % 10 else ShownSide.RIGHT) for n in range(120)])
    assert verdict is StepVerdict.REFUSED
    assert "90% of the preferred reports stood left" in detail


def test_readers_who_contradict_each_other_are_refused() -> None:
    one = [make_pair(n) for n in range(60)]
    other = [make_pair(n + 100, accepted=pair.rejected.text, rejected=pair.accepted.text) for n, pair in enumerate(one)]
    verdict, detail = judge([*one, *other])
    assert verdict is StepVerdict.REFUSED
    assert "agree in 0%" in detail


def test_agreement_counts_pairs_of_readers_of_the_same_reports() -> None:
    same = {"accepted": "A", "rejected": "B"}
    votes = [make_pair(0, **same), make_pair(1, **same), make_pair(2, accepted="B", rejected="A"), make_pair(3)]
    agreement, judged = measure_agreement(votes)
    assert (round(agreement, 4), judged) == (0.3333, 3)


def test_the_page_shows_a_share_with_its_interval_and_what_is_not_known() -> None:
    pairs = [make_pair(n, accepted_shown=ShownSide.LEFT if n < 70 else ShownSide.RIGHT) for n in range(120)]
    outcome = judge_votes(CheckedVotes(tuple(pairs), (), {}), CHECKS)
    found = dict(list_tables(outcome, CHECKS)[0].rows)
    assert (found["left"], found["agreement"]) == (".58 (.49 to .67)", "not known")
