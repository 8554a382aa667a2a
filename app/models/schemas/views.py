"""The registry's nouns as the API tells them. With `named`, which the operator's organisation has, people are told by address."""

from collections.abc import Sequence

from app.domain.model_versions import Canary, ModelVersion, StateChange
from app.domain.served_models import AliasMove, RoleHold
from app.models.schemas.bodies import (
    ArmView,
    CanaryCourseView,
    CanaryView,
    HoldView,
    LearnedSet,
    LearnedVotesView,
    ModelVersionDetail,
    ModelVersionView,
    MoveView,
    OwnVotesView,
    RoleView,
    VersionChange,
    VersionEvaluation,
    VotesView,
)
from app.models.service.canary_course import CanaryCourse
from app.models.service.erasure import BY as ERASURE
from app.models.service.promotion import AUTOMATIC
from app.models.service.registry import VersionDetail
from app.models.service.serving import SETTINGS
from app.models.service.standings import OwnVotes, RoleStanding

OPERATOR = "operator"
PROGRAMS = AUTOMATIC | {ERASURE, SETTINGS}


def view_role(standing: RoleStanding, named: bool) -> RoleView:
    """Return who has a role."""
    return RoleView(
        role=standing.role,
        served=standing.alias.served if standing.alias else "",
        since=standing.alias.since if standing.alias else None,
        version=view_version(standing.version) if standing.version else None,
        held=_view_hold(standing.hold, named) if standing.hold else None,
        canary=_view_canary(standing.canary) if standing.canary else None,
    )


def view_version(version: ModelVersion) -> ModelVersionView:
    """Return a version without its configuration and its sets."""
    kept = version.model_dump(include=set(ModelVersionView.model_fields))
    return ModelVersionView(**kept, name=version.name, rows=sum(each.rows for each in version.sets))


def view_detail(detail: VersionDetail, named: bool, courses: Sequence[CanaryCourse]) -> ModelVersionDetail:
    """Return a version with all that is known of it, and the courses of its canaries."""
    version = detail.version
    return ModelVersionDetail(
        version=view_version(version),
        sets=[LearnedSet(**each.model_dump(exclude={"key"})) for each in version.sets],
        judgements=detail.pairs,
        configuration=version.configuration if named else {},
        changes=[_view_change(each, named) for each in detail.changes],
        evaluations=[VersionEvaluation(**each.model_dump()) for each in detail.evaluations],
        canaries=[_view_canary(each) for each in detail.canaries],
        courses=[_view_course(each) for each in courses],
        moves=[view_move(each, named) for each in detail.moves],
        lineage=[view_version(each) for each in detail.lineage],
    )


def view_move(move: AliasMove, named: bool) -> MoveView:
    """Return a move of a role."""
    return MoveView(**move.model_dump() | {"by": _name(move.by, named)})


def view_votes(votes: OwnVotes) -> OwnVotesView:
    """Return what the reader's own votes were part of."""
    learned = [
        LearnedVotesView(version=view_version(each.version), own=each.own, judgements=each.judgements) for each in votes.learned
    ]
    return OwnVotesView(choices=votes.choices, learned=learned)


def _view_hold(hold: RoleHold, named: bool) -> HoldView:
    return HoldView(by=_name(hold.by, named), why=hold.why, at=hold.at)


def _view_canary(canary: Canary) -> CanaryView:
    return CanaryView(**canary.model_dump())


def _view_course(course: CanaryCourse) -> CanaryCourseView:
    return CanaryCourseView(
        canary=course.canary.id,
        arms=[ArmView(arm=arm, **traffic._asdict()) for arm, traffic in course.traffic.items()],
        votes=[VotesView(**each._asdict()) for each in course.votes],
    )


def _view_change(change: StateChange, named: bool) -> VersionChange:
    return VersionChange(**change.model_dump() | {"by": _name(change.by, named)})


def _name(by: str, named: bool) -> str:
    return by if named or by in PROGRAMS else OPERATOR
