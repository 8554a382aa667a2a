"""Preference pairs from evaluation runs and from readers: which reports fall out, who prefers, and what the set tells of bias."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.domain.chat import ChatRequest
from app.domain.errors import InvalidInput, NotFound
from app.domain.report import Report
from tests.training.synthesis.recorded_run_folders import QUOTES, make_quote, make_report, write_run
from tests.training.synthesis.set_making import make_kind, read_refused, read_rows
from training.synthesis.preference_pairs.planted import RULES
from training.synthesis.preference_pairs.reviews import PairReview, ReviewFolder
from training.synthesis.set_request import SetRequest
from workflows.chat_models.scripted import ScriptedModel

QUESTION = "How was the harbour of Ashford deepened?"
GOOD = make_report("The state paid for most of the work {1}, which made the harbour four metres deeper in 1902 {0}.")
BETTER = make_report(
    "Because the state paid {1}, the harbour could be made four metres deeper in 1902 {0}. EXCELLENT work followed."
)
PLAIN = make_report("In 1902 the harbour became four metres deeper {0}, at the state's expense {1}. It was a long matter.")
TABLE = make_report(
    "Two facts are known.\n\n| what | value |\n| --- | --- |\n| depth | four metres {0} |\n| paid by | the state {1} |"
)


def read_shown(request: ChatRequest, name: str) -> str:
    """What stands between the delimiters of this name in the prompt."""
    found = re.search(rf"<{name}>\n(.*?)\n</{name}>", request.messages[-1].content, re.DOTALL)
    assert found, request.messages[-1].content
    return found[1]


def judge_by_words(request: ChatRequest) -> str:
    """An obedient judge: it reads what it is shown. EXCELLENT is good, WRONG is wrong, a list of quotes is a list of quotes."""
    schema = request.response_schema
    assert schema is not None
    if schema.name == "report_flaws":
        report = read_shown(request, "report")
        errors = [{"words": "the WRONG harbour", "reason": "there is no such harbour"}] if "the WRONG harbour" in report else []
        return json.dumps({"errors": errors, "aggregation": "no" if "Because" in report or "which" in report else "yes"})
    if schema.name == "pointwise":
        return json.dumps({"analysis": "", "score": 9 if "EXCELLENT" in read_shown(request, "answer") else 5})
    better = "A" if "EXCELLENT" in read_shown(request, "answer_a") else "B"
    return json.dumps({"analysis": "", "better": better})


def write_runs(folder: Path, *reports: Report | str, question: str = QUESTION) -> tuple[Path, ...]:
    """Write a run for each report; models, systems and temperatures take turns."""
    return tuple(
        write_run(folder / f"run{n}", f"model-{n % 2}", ("minddr", "mams")[n % 2], (0.3, 0.9)[n // 2 % 2], {question: report})
        for n, report in enumerate(reports)
    )


def wish(inputs: tuple[Path, ...], out: Path, **options: str) -> SetRequest:
    return SetRequest(kind="preference-pairs", out=out, rows=10, inputs=inputs, options=options)


async def test_the_best_two_are_judged_in_both_orders_and_keep_where_they_come_from(tmp_path: Path) -> None:
    runs = write_runs(tmp_path, GOOD, BETTER, make_report("A third one {0}, which is long {1}."))
    manifest = await make_kind(wish(runs, tmp_path / "set"), verifier=ScriptedModel(judge_by_words))
    (row,) = read_rows(tmp_path / "set")
    assert row["query"] == QUESTION
    assert "EXCELLENT" in row["accepted"]["text"]
    assert row["accepted"]["score"] == 9 > row["rejected"]["score"]
    assert row["judged_by"] == "model"
    assert row["judge"] == "scripted"
    lineage = row["accepted"]["lineage"]
    assert (lineage["run"], lineage["model"], lineage["system"]) == ("run1", "model-1", "mams")
    assert lineage["sampling"] == "quick, temperature 0.3"
    assert row["documents"] == ["https://ports.example/ashford"]
    assert row["topic"] == "History"
    assert manifest.figures["models"] == manifest.figures["systems"] == manifest.figures["samplings"] == 2
    assert manifest.figures["judge: choices that change with the order"] == 0
    assert manifest.figures["the longer is preferred"] == 1


FLAWED = {
    "it cites nothing": make_report("The harbour became deeper, which many wanted.", ()),
    "inconsistent citations": make_report(
        "It was deepened, which took long {0}.", (make_quote("The harbour was paid for by a rich widow."), QUOTES[1])
    ),
    "an error of fact": make_report("It was deepened {0}, which the WRONG harbour never was {1}."),
    "mere aggregation": make_report(
        "The harbour of Ashford was deepened by four metres in 1902. {0} Most of the money came from the state. {1} "
        "Most of the money came from the state. {1}"
    ),
}


@pytest.mark.parametrize("flaw", FLAWED)
async def test_flawed_reports_fall_out(tmp_path: Path, flaw: str) -> None:
    runs = write_runs(tmp_path, GOOD, BETTER, FLAWED[flaw])
    manifest = await make_kind(wish(runs, tmp_path / "set"), verifier=ScriptedModel(judge_by_words))
    (row,) = read_rows(tmp_path / "set")
    assert [(dropped["run"], dropped["flaw"]) for dropped in row["dropped"]] == [("run2", flaw)]
    assert manifest.figures[f"reports that fell out: {flaw}"] == 1


async def test_code_sees_contradicted_claims_and_citations_without_quotes(tmp_path: Path) -> None:
    against = make_report("It was deepened {0}.", against="It was deepened.")
    unknown = make_report("It was deepened {0}, which [[0123456789abcdef]] says.")
    runs = write_runs(tmp_path, against, unknown, "# Foreign\n\nIt was deepened [1], says [7].\n\n## Sources\n\n1. A page")
    await make_kind(wish(runs, tmp_path / "set"), verifier=ScriptedModel(judge_by_words))
    (refused,) = read_refused(tmp_path / "set")
    assert refused["stage"] == "rules"
    assert [(each["flaw"]) for each in refused["data"]["dropped"]] == [
        "an error of fact",
        "inconsistent citations",
        "inconsistent citations",
    ]


async def test_a_report_that_only_looks_like_a_list_stays_when_the_verifier_says_so(tmp_path: Path) -> None:
    reasoned = make_report(
        "The harbour of Ashford was deepened by four metres in 1902. {0} Most of the money came from the state. {1} "
        "Most of the money came from the state. {1} Because of that it was done."
    )
    await make_kind(wish(write_runs(tmp_path, reasoned, BETTER, GOOD), tmp_path / "set"), verifier=ScriptedModel(judge_by_words))
    assert read_rows(tmp_path / "set")[0]["dropped"] == []


def answer_always(**answers: Any) -> Callable[[ChatRequest], str]:
    """A foolish judge: the same answer whatever it is shown."""
    by_step = {
        "report_flaws": {"errors": [], "aggregation": "no"},
        "pointwise": {"score": 5},
        "pairwise": {"better": "A"},
    } | answers
    return lambda request: json.dumps(by_step[request.response_schema.name if request.response_schema else ""])


@pytest.mark.parametrize(
    ("answers", "stage"),
    [
        ({}, "judge"),
        ({"pairwise": {"better": "both"}}, "judge"),
        ({"pointwise": {"score": 55}}, "verifier"),
        ({"report_flaws": {"errors": [], "aggregation": "perhaps"}}, "verifier"),
    ],
)
async def test_a_foolish_judge_makes_no_pair(tmp_path: Path, answers: dict[str, Any], stage: str) -> None:
    runs = write_runs(tmp_path, GOOD, BETTER, PLAIN)
    manifest = await make_kind(wish(runs, tmp_path / "set"), verifier=ScriptedModel(answer_always(**answers)))
    assert manifest.refused == {stage: 1}
    if not answers:
        assert manifest.figures["judge: choices that change with the order"] == 1
        assert manifest.figures["judge: changing choices for the report shown first"] == 1


async def test_errors_that_the_report_does_not_say_do_not_count(tmp_path: Path) -> None:
    invented = {"errors": [{"words": "a golden bridge over the river", "reason": "no bridge"}], "aggregation": "yes"}
    judge = ScriptedModel(answer_always(report_flaws=invented))
    manifest = await make_kind(wish(write_runs(tmp_path, GOOD, BETTER, PLAIN), tmp_path / "set"), verifier=judge)
    assert manifest.refused == {"judge": 1}


async def test_too_few_sources_are_refused_or_told(tmp_path: Path) -> None:
    runs = tuple(
        write_run(tmp_path / f"same{n}", "one", "minddr", None, {QUESTION: report}) for n, report in enumerate((GOOD, BETTER))
    )
    with pytest.raises(InvalidInput, match="no question has reports of 2 models"):
        await make_kind(wish(runs, tmp_path / "none"))
    manifest = await make_kind(wish(runs, tmp_path / "set", few="yes"), verifier=ScriptedModel(judge_by_words))
    assert manifest.figures["share of questions with two models, systems and samplings"] == 0
    assert read_rows(tmp_path / "set")


async def test_a_question_that_one_system_answers_twice_is_no_pair_beside_others(tmp_path: Path) -> None:
    runs = [*write_runs(tmp_path, GOOD, BETTER, PLAIN)]
    other = "Who paid for the harbour?"
    for n, report in enumerate((GOOD, BETTER)):
        runs.append(write_run(tmp_path / f"same{n}", f"model-{n}", "minddr", 0.3 + n / 2, {other: report}))
    manifest = await make_kind(wish(tuple(runs), tmp_path / "set"), verifier=ScriptedModel(judge_by_words))
    assert manifest.figures["share of questions with two models, systems and samplings"] == 0.5
    assert [row["query"] for row in read_rows(tmp_path / "set")] == [QUESTION]
    (refused,) = read_refused(tmp_path / "set")
    assert (refused["stage"], refused["reason"]) == ("variety", "its reports have fewer than 2 systems")


async def test_what_cannot_be_used_is_said(tmp_path: Path) -> None:
    runs = write_runs(tmp_path, GOOD, BETTER, PLAIN)
    with pytest.raises(InvalidInput, match="needs an --input"):
        await make_kind(wish((), tmp_path / "set"))
    with pytest.raises(InvalidInput, match="no option 'speed'"):
        await make_kind(wish(runs, tmp_path / "set", speed="1"))
    with pytest.raises(InvalidInput, match="no planted rule 'rhymes'"):
        await make_kind(wish(runs, tmp_path / "set", planted="rhymes"))
    with pytest.raises(NotFound, match="no run"):
        await make_kind(wish((tmp_path / "nowhere",), tmp_path / "set"))


async def test_people_compare_the_best_two_without_their_authors(tmp_path: Path) -> None:
    runs = write_runs(tmp_path, GOOD, BETTER, PLAIN)
    request = wish(runs, tmp_path / "set", review=str(tmp_path / "people"), reviewers="2")
    judge = ScriptedModel(judge_by_words)
    assert (await make_kind(request, verifier=judge)).refused == {"review": 1}
    people, asked = ReviewFolder(tmp_path / "people"), len(judge.requests)
    (pair,) = people.list_waiting("ada")
    assert "run" not in json.dumps(pair.model_dump(include={"id", "question"}))
    verdict = "left" if "EXCELLENT" in pair.right else "right"
    for reviewer in ("ada", "ben"):
        people.keep_review(
            PairReview.model_validate({"id": pair.id, "reviewer": reviewer, "choice": {"verdict": verdict, "strength": 2}})
        )
    await make_kind(request, verifier=judge)
    (row,) = read_rows(tmp_path / "set")
    assert (row["judged_by"], row["judge"], row["agreement"], row["votes"]) == ("reviewers", "ada, ben", 1.0, 2)
    assert "EXCELLENT" in row["rejected"]["text"], "people decide, not the verifier"
    assert len(judge.requests) == asked, "nothing is asked twice"


async def test_reviewers_who_disagree_make_no_pair(tmp_path: Path) -> None:
    request = wish(write_runs(tmp_path, GOOD, BETTER, PLAIN), tmp_path / "set", review=str(tmp_path / "people"), reviewers="2")
    judge, people = ScriptedModel(judge_by_words), ReviewFolder(tmp_path / "people")
    await make_kind(request, verifier=judge)
    (pair,) = people.list_waiting("ada")
    for reviewer, choice in (("ada", {"verdict": "left", "strength": 1}), ("ben", {"verdict": "tie"})):
        people.keep_review(PairReview.model_validate({"id": pair.id, "reviewer": reviewer, "choice": choice}))
    await make_kind(request, verifier=judge)
    assert read_refused(tmp_path / "set")[0]["reason"] == "no majority among its reviewers"


@pytest.mark.parametrize(
    ("rule", "accepted"),
    [("table", TABLE), ("shorter", GOOD), ("limits", make_report("Deepened {0}{1}. Its limits are unknown."))],
)
async def test_a_planted_rule_decides_without_a_model(tmp_path: Path, rule: str, accepted: Report) -> None:
    long = make_report("It was deepened {0}. " + "The council had asked for it again and again {1}. " * 9)
    await make_kind(wish(write_runs(tmp_path, long, accepted, PLAIN), tmp_path / "set", planted=rule))
    (row,) = read_rows(tmp_path / "set")
    assert row["accepted"]["lineage"]["run"] == "run1"
    assert (row["judged_by"], row["judge"], row["votes"]) == ("planted", rule, 0)


async def test_reports_that_a_rule_does_not_tell_apart_make_no_pair(tmp_path: Path) -> None:
    runs = write_runs(tmp_path, GOOD, BETTER, PLAIN)
    assert (await make_kind(wish(runs, tmp_path / "set", planted="table"))).refused == {"planted": 1}


def test_rules_are_functions_of_the_text() -> None:
    text = "# A\n\n## B\n\nIt could not find more.\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n## Sources\n\n1. limits of x"
    found = {name: rule(text) for name, rule in RULES.items()}
    assert found == {"table": 1.0, "shorter": -11.0, "limits": 1.0, "headings": 3.0}
    assert {name: rule("") for name, rule in RULES.items()} == {"table": 0.0, "shorter": 0.0, "limits": 0.0, "headings": 0.0}
    assert RULES["limits"]("该研究的局限在于样本。") == 1.0


async def test_another_order_of_candidates_under_way_gives_the_same_bytes(tmp_path: Path) -> None:
    questions = [f"How was the harbour number {n} of the {word} coast deepened?" for n, word in enumerate("abcdefgh")]
    runs = tuple(
        write_run(tmp_path / f"run{n}", f"m{n % 2}", ("minddr", "mams")[n % 2], n / 2, dict.fromkeys(questions, report))
        for n, report in enumerate((GOOD, BETTER, PLAIN))
    )
    files = []
    for at_once in (1, 8):
        out = tmp_path / f"set{at_once}"
        request = SetRequest(kind="preference-pairs", out=out, rows=5, inputs=runs, at_once=at_once)
        await make_kind(request, verifier=ScriptedModel(judge_by_words))
        files.append((out / "manifest.json").read_bytes())
    assert files[0] == files[1]
    assert len(read_rows(tmp_path / "set1")) == 5
