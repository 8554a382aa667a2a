"""The set of preferences (QSR section 3.2): from evaluation runs, judged by a model, people or a planted rule, and from readers.

Options: few=yes, review=FOLDER, reviewers=N, planted=RULE.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from app.domain.errors import InvalidInput
from training.synthesis.catalogue import SetKind
from training.synthesis.preference_pairs.choosing import (
    AnsweredQuestion,
    choose_best_two,
    judge_two,
    plant_preference,
    review_two,
    sift_reports,
)
from training.synthesis.preference_pairs.exported import (
    ComparedReports,
    is_export,
    make_reader_row,
    read_compared,
    read_manifest,
)
from training.synthesis.preference_pairs.figures import count_figures
from training.synthesis.preference_pairs.planted import load_rule
from training.synthesis.preference_pairs.reviews import ReviewFolder
from training.synthesis.recorded_reports import RecordedReport, group_by_question, read_reports
from training.synthesis.training_set.outcome import KeptRow, RefusedCandidate
from training.synthesis.training_set.recipe import QUOTED, SetRecipe
from training.synthesis.workshop import Workshop
from workflows.agents.ports import Record

FEW, REVIEW, REVIEWERS, PLANTED = "few", "review", "reviewers", "planted"
OPTIONS = frozenset({FEW, REVIEW, REVIEWERS, PLANTED})
FEWEST = 2
VARIETY = "variety"
VARIED = "share of questions with two models, systems and samplings"
PairSource = AnsweredQuestion | ComparedReports


def open_recipe(workshop: Workshop) -> SetRecipe[PairSource]:
    """Return the recipe.

    Raises:
        InvalidInput: an input or an option cannot be used, or no question has two models, systems and samplings.
        NotFound: an input is neither a run nor an export.
    """
    request = workshop.request
    _check_options(workshop)
    exports = [path for path in request.inputs if is_export(path)]
    reports = read_reports([path for path in request.inputs if path not in exports])
    sources = _describe_sources(reports)
    if reports and request.options.get(FEW) != "yes":
        _require_variety(sources)
    return SetRecipe(
        _list_candidates(workshop, exports, reports),
        partial(_make_row, workshop),
        partial(count_figures, sources=sources),
        consents_at=min((read_manifest(path).consents_checked_at for path in exports), default=None),
        trained=("accepted", "rejected"),
        walls=QUOTED,
        ask_query=lambda each: each.asked.question if isinstance(each, AnsweredQuestion) else each.query.question,
    )


def _check_options(workshop: Workshop) -> None:
    request = workshop.request
    if not request.inputs:
        raise InvalidInput("preference-pairs needs an --input: folders of `rubrica eval run`, or of `rubrica preferences export`")
    if unknown := request.options.keys() - OPTIONS:
        raise InvalidInput(f"preference-pairs has no option {min(unknown)!r}; it has {', '.join(sorted(OPTIONS))}")
    if PLANTED in request.options:
        load_rule(request.options[PLANTED])
        if REVIEW in request.options or any(map(is_export, request.inputs)):
            raise InvalidInput("a planted rule decides by itself; leave the reviews and the readers' preferences out")


def _describe_sources(reports: Sequence[RecordedReport]) -> dict[str, float]:
    if not reports:
        return {}
    groups = group_by_question(reports, 0)
    varied = sum(not _list_missing(group.reports) for group in groups)
    return {**_count_sources(reports), VARIED: varied / len(groups)}


def _count_sources(reports: Sequence[RecordedReport]) -> dict[str, int]:
    origins = [report.origin for report in reports]
    return {
        "models": len({origin.model for origin in origins}),
        "systems": len({origin.system for origin in origins}),
        "samplings": len({origin.sampling for origin in origins}),
    }


def _list_missing(reports: Sequence[RecordedReport]) -> list[str]:
    """Return of what these reports have fewer than two."""
    return [name for name, count in _count_sources(reports).items() if count < FEWEST]


def _require_variety(sources: dict[str, float]) -> None:
    if not sources[VARIED]:
        raise InvalidInput(
            f"no question has reports of {FEWEST} models, systems and samplings; add runs, or say --option few=yes"
        )


def _list_candidates(workshop: Workshop, exports: Sequence[Path], reports: Sequence[RecordedReport]) -> Iterator[PairSource]:
    """Yield what readers compared, then the questions with more than one report."""
    for path in exports:
        yield from read_compared(path)
    folder = _open_reviews(workshop)
    reviews = folder.read_reviews() if folder else {}
    for asked in group_by_question(reports, workshop.request.seed):
        if len(asked.reports) >= FEWEST:
            question = AnsweredQuestion(asked)
            yield AnsweredQuestion(asked, tuple(reviews.get(question.pair, ())))


def _open_reviews(workshop: Workshop) -> ReviewFolder | None:
    said = workshop.request.options.get(REVIEW)
    return ReviewFolder(Path(said)) if said else None


async def _make_row(workshop: Workshop, candidate: PairSource, record: Record) -> KeptRow | RefusedCandidate:
    """Make a pair of what readers compared, or of the best two reports on a question."""
    if isinstance(candidate, ComparedReports):
        return make_reader_row(candidate)
    request = workshop.request
    course, standing = sift_reports(candidate)
    missing = _list_missing(candidate.asked.reports)
    if missing and request.options.get(FEW) != "yes":
        return course.refuse(VARIETY, f"its reports have fewer than {FEWEST} {' and '.join(missing)}")
    if PLANTED in request.options:
        return plant_preference(course, standing, request.options[PLANTED])
    kit = workshop.open_verifier(record, candidate.asked.language)
    best = await choose_best_two(kit, course, standing)
    if isinstance(best, RefusedCandidate):
        return best
    if (folder := _open_reviews(workshop)) is not None:
        return review_two(*best, folder, request.number(REVIEWERS, 1))
    return await judge_two(kit, *best)


PREFERENCE_PAIRS = SetKind(
    name="preference-pairs",
    about="two reports on a question, one of them preferred: from evaluation runs (--input, repeatable) and readers' preferences",
    open_recipe=open_recipe,
    options=OPTIONS,
)
