"""Reports: read, export, change and share them, and ask further questions."""

from rubrica_client.models import (
    AnswerPage,
    AnswerView,
    ChangePage,
    ChangeView,
    CreatedShare,
    DisagreementPage,
    Edit,
    EvidenceView,
    FigurePage,
    NewQuestion,
    NewShare,
    ReportDiff,
    ReportView,
    Rewriting,
    RewritingKind,
    SharePage,
    VersionInfo,
    VersionPage,
    VersionView,
)
from rubrica_client.request import EXPORT, Request


def get(run_id: str) -> Request[ReportView]:
    """Return the report with its citations."""
    return Request("GET", ("v1", "runs", run_id, "report"), ReportView, headers={"Accept": "application/json"})


def markdown(run_id: str) -> Request[bytes]:
    """Return the report as Markdown."""
    return Request("GET", ("v1", "runs", run_id, "report"), bytes, headers={"Accept": "text/markdown"})


def page(run_id: str) -> Request[bytes]:
    """Return the report as an HTML page that loads nothing else."""
    return Request("GET", ("v1", "runs", run_id, "report"), bytes, headers={"Accept": "text/html"})


def evidence(run_id: str) -> Request[EvidenceView]:
    """Return every citation with its exact quote and offsets."""
    return Request("GET", ("v1", "runs", run_id, "evidence"), EvidenceView)


def evidence_file(run_id: str) -> Request[bytes]:
    """Return the content of evidence.json."""
    return Request("GET", ("v1", "runs", run_id, "evidence"), bytes)


def export(run_id: str, form: str, version: int | None = None) -> Request[bytes]:
    """Export the report, or its references, as a file."""
    return Request("GET", ("v1", "runs", run_id, "export"), bytes, query={"format": form, "version": version}, timeout=EXPORT)


def snapshot(name: str) -> Request[str]:
    """Return the stored copy of a source, to which all offsets refer."""
    return Request("GET", ("v1", "snapshots", name), str, headers={"Accept": "text/plain"})


def versions(run_id: str, limit: int = 100, before: int | None = None) -> Request[VersionPage]:
    """List the versions of a report, newest first."""
    return Request("GET", ("v1", "runs", run_id, "versions"), VersionPage, query={"limit": limit, "before": before})


def version(run_id: str, n: int) -> Request[VersionView]:
    """Return one version with its sections as they can be edited."""
    return Request("GET", ("v1", "runs", run_id, "versions", n), VersionView)


def diff(run_id: str, old: int, new: int) -> Request[ReportDiff]:
    """Return what changed from one version to the other, by section and word."""
    return Request("GET", ("v1", "runs", run_id, "versions", old, "diff"), ReportDiff, query={"with": new})


def revert(run_id: str, n: int, newest: int | None = None) -> Request[VersionInfo]:
    """Make version `n` the newest again; `newest` is the one that the reader sees."""
    return Request("POST", ("v1", "runs", run_id, "versions", n, "revert"), VersionInfo, headers=_if_match_headers(newest))


def edit(run_id: str, section: int, new: Edit, version: int | None = None) -> Request[ChangeView]:
    """Replace a section of `version` with the reader's own words."""
    return Request("PUT", ("v1", "runs", run_id, "sections", section), ChangeView, body=new, headers=_if_match_headers(version))


def rewrite(run_id: str, section: int, how: str, wish: str = "", version: int | None = None) -> Request[ChangeView]:
    """Have a section of `version` written again, or deepened."""
    parts, body = ("v1", "runs", run_id, "sections", section, "rewrite"), Rewriting(how=RewritingKind(how), wish=wish)
    return Request("POST", parts, ChangeView, body=body, headers=_if_match_headers(version))


def changes(run_id: str, limit: int | None = None, before: str | None = None) -> Request[ChangePage]:
    """List the changes that were asked for, newest first."""
    return Request("GET", ("v1", "runs", run_id, "changes"), ChangePage, query={"limit": limit, "before": before})


def change(run_id: str, task_id: str) -> Request[ChangeView]:
    """Return the state of a change."""
    return Request("GET", ("v1", "runs", run_id, "changes", task_id), ChangeView)


def ask(run_id: str, question: str) -> Request[AnswerView]:
    """Ask a further question about the evidence of a run."""
    return Request("POST", ("v1", "runs", run_id, "questions"), AnswerView, body=NewQuestion(question=question)).with_key()


def questions(run_id: str, limit: int = 50, before: str | None = None) -> Request[AnswerPage]:
    """List further questions with their answers, newest first."""
    return Request("GET", ("v1", "runs", run_id, "questions"), AnswerPage, query={"limit": limit, "before": before})


def question(run_id: str, task_id: str) -> Request[AnswerView]:
    """Return one further question, with its answer if it is there."""
    return Request("GET", ("v1", "runs", run_id, "questions", task_id), AnswerView)


def contradictions(run_id: str) -> Request[DisagreementPage]:
    """List where sources disagree."""
    return Request("GET", ("v1", "runs", run_id, "contradictions"), DisagreementPage)


def figures(run_id: str) -> Request[FigurePage]:
    """Return the numbers in the cited quotes, and charts of those that can be compared."""
    return Request("GET", ("v1", "runs", run_id, "figures"), FigurePage)


def share(run_id: str, days: int, version: int | None = None) -> Request[CreatedShare]:
    """Make a link by which anybody can read the report until it ends."""
    return Request("POST", ("v1", "runs", run_id, "shares"), CreatedShare, body=NewShare(days=days, version=version))


def shares(run_id: str) -> Request[SharePage]:
    """List the links to a report."""
    return Request("GET", ("v1", "runs", run_id, "shares"), SharePage)


def revoke_share(run_id: str, share_id: str) -> Request[None]:
    """End a link now."""
    return Request("DELETE", ("v1", "runs", run_id, "shares", share_id), type(None))


def _if_match_headers(version: int | None) -> dict[str, str]:
    return {} if version is None else {"If-Match": f'"{version}"'}
