"""Turn stored feedback into what training reads: pairs, undecided pairs, rated reports and flagged claims, under pseudonyms."""

from collections.abc import Mapping

import orjson
from asyncpg import Record

from app.domain.query import ResearchQuery
from app.domain.report import Report
from app.domain.revision import VersionOrigin
from app.domain.rubric import Rubric
from app.domain.served_models import RoleModels
from app.domain.split import Split
from app.domain.writer import ReportLineage, WriterSettings
from app.preferences.nouns.edits import EditedSection, RevisedRubric
from app.preferences.nouns.feedback import (
    CandidatePlace,
    Choice,
    Favour,
    FlaggedClaim,
    JudgedReport,
    PairOutcome,
    PreferencePair,
    RatedReport,
    ShownSide,
    StoredChoice,
    UndecidedPair,
    Viewing,
)
from app.preferences.service.held_out import name_query
from app.preferences.service.pseudonyms import Pseudonyms


def pair_of(row: Record, names: Pseudonyms, sides: Mapping[str, Split], comments: bool) -> PreferencePair | UndecidedPair:
    """Return a choice as a pair; an undecided pair where neither report was preferred. `sides` are those of queries."""
    outcome, choice = PairOutcome(row["outcome"]), Choice.of_any_version(row["choice"])
    times = {name: row[name] for name in ("elapsed_seconds", "made_at", "changed_at", "changes")}
    stored = StoredChoice(choice=choice, outcome=outcome, **times)
    viewing = Viewing(left=CandidatePlace(row["left_place"]), first_viewed_at=row["first_viewed_at"])
    judged = {place: _judged_report_of(row, place) for place in CandidatePlace}
    query = _query_of(row, names)
    common = {
        "id": names.of("choice", row["comparison_id"], row["user_id"]),
        "query": query,
        "evidence_digest": row["evidence_digest"],
        "evidence": names.of("evidence", row["run_id"]),
        "comment": choice.comment if comments else "",
        "seconds": round(stored.seconds, 3),
        "hidden_seconds": choice.hidden_seconds,
        "reader": _reader_of(row, names),
        "organisation": names.of("organisation", row["organisation_id"]),
        "annotation": row["annotation"],
        "asked_by_reader": row["user_id"] == row["created_by"],
        "split": sides[name_query(query.question)],
    }
    if outcome.place is None:
        return _undecided_pair_of(judged, viewing, outcome, common)
    accepted = outcome.place
    return PreferencePair(
        **common,
        accepted=judged[accepted],
        rejected=judged[accepted.other],
        strength=choice.strength,
        reasons={reason.dimension: _favour_of(reason.side, viewing.side_of(accepted)) for reason in choice.reasons},
        accepted_shown=viewing.side_of(accepted),
    )


def rated_report_of(row: Record, names: Pseudonyms, comments: bool) -> RatedReport:
    """Return stars with the report they are for."""
    return RatedReport(
        id=names.of("rating", row["run_id"], row["user_id"]),
        query=_query_of(row, names),
        text=row["markdown"],
        digest=row["report_digest"],
        lineage=_lineage_of(row["result"]),
        stars=row["stars"],
        comment=row["comment"] if comments else "",
        reader=_reader_of(row, names),
    )


def flagged_claim_of(row: Record, names: Pseudonyms, comments: bool) -> FlaggedClaim:
    """Return a flagged claim."""
    return FlaggedClaim(
        id=names.of("flag", row["run_id"], row["claim"], row["user_id"]),
        query=_query_of(row, names),
        claim=row["claim_text"],
        digest=row["report_digest"],
        lineage=_lineage_of(row["result"]),
        reason=row["reason"] if comments else "",
        reader=_reader_of(row, names),
    )


def edited_section_of(row: Record, names: Pseudonyms) -> EditedSection:
    """Return a section before and after a reader changed it."""
    before, after = (Report.of_any_version(row[name]).sections[row["section"]] for name in ("before", "after"))
    return EditedSection(
        id=names.of("edit", row["id"]),
        query=_query_of(row, names),
        version=row["version"],
        base=VersionOrigin(row["base"]),
        digest=row["report_digest"],
        lineage=_lineage_of(row["result"]),
        heading_before=before.heading,
        heading=after.heading,
        before=before.body,
        after=after.body,
        reader=_reader_of(row, names),
    )


def revised_rubric_of(row: Record, names: Pseudonyms) -> RevisedRubric:
    """Return a rubric before and after a reader changed it."""
    return RevisedRubric(
        id=names.of("rubric", row["run_id"]),
        query=_query_of(row, names),
        drafted=Rubric.of_any_version(row["drafted"]) if row["drafted"] else None,
        rubric=Rubric.of_any_version(row["rubric"]),
        overall=row["overall"],
        reader=_reader_of(row, names),
    )


def _undecided_pair_of(
    judged: dict[CandidatePlace, JudgedReport], viewing: Viewing, outcome: PairOutcome, common: dict[str, object]
) -> UndecidedPair:
    """Return the pair in the order of the digests: the stored order would tell which report the run delivered."""
    first, second = sorted(CandidatePlace, key=lambda place: judged[place].digest)
    return UndecidedPair.model_validate(
        {
            **common,
            "reports": (judged[first], judged[second]),
            "both_bad": outcome is PairOutcome.BOTH_BAD,
            "first_shown": viewing.side_of(first),
        },
        extra="forbid",
    )


def _judged_report_of(row: Record, place: CandidatePlace) -> JudgedReport:
    lineage = ReportLineage.of_any_version(row[f"{place}_lineage"])
    return JudgedReport(text=row[f"{place}_text"], digest=row[f"{place}_digest"], lineage=lineage)


def _favour_of(side: ShownSide | None, accepted: ShownSide) -> Favour:
    if side is None:
        return Favour.NEITHER
    return Favour.ACCEPTED if side is accepted else Favour.REJECTED


def _query_of(row: Record, names: Pseudonyms) -> ResearchQuery:
    """Return the question. Its writer settings are in each report's lineage; tenant and other runs are left out.

    Collections of the organisation's own have pseudonyms: `searched` names them as the index does.
    """
    asked = ResearchQuery.of_any_version(row["query"])
    known = zip(asked.collections, asked.searched or asked.collections, strict=False)
    collections = tuple(name if name == there else names.of("collection", there) for name, there in known)
    left_out = {"tenant": "", "searched": (), "refreshes": None, "evidence_of": None, "models": RoleModels()}
    return asked.model_copy(update={"collections": collections, "writer": WriterSettings(), **left_out})


def _lineage_of(result: bytes | None) -> ReportLineage:
    return ReportLineage.of_any_version(orjson.loads(result or b"{}").get("lineage") or {})


def _reader_of(row: Record, names: Pseudonyms) -> str:
    return names.of("reader", row["organisation_id"], row["user_id"])
