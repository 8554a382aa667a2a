"""Finished reports: files to take along, versions, changes, follow-up questions, disagreements, figures, links."""

from datetime import datetime

from ui.api_client import ApiClient
from ui.models import Answer, Citation, CitedSource, Usage


class Version(Answer):
    """How a version came about. `based_on` is what it was made of, or what was brought back."""

    n: int
    origin: str
    based_on: int | None = None
    section: int | None = None
    note: str = ""
    usage: Usage = Usage()
    created_at: datetime


class VersionPage(Answer):
    """Versions, newest first."""

    items: tuple[Version, ...]
    next: int | None = None


class EditableSection(Answer):
    """A section as it can be edited; `[n]` are the numbers of its version."""

    heading: str
    level: int
    markdown: str


class WholeVersion(Answer):
    """A version with its text."""

    info: Version
    title: str
    html: str
    sections: tuple[EditableSection, ...]


class Task(Answer):
    """A change of a section of version `base`: under way, `done` (`version` is its result) or `failed` (`detail` says why)."""

    id: str
    how: str
    base: int = 0
    section: int | None = None
    status: str
    detail: str = ""
    version: int | None = None
    usage: Usage = Usage()


class Tasks(Answer):
    """Changes, newest first."""

    items: tuple[Task, ...]


class FollowUp(Answer):
    """A question to the evidence. `answered` is None while it is worked on, False where the evidence does not say."""

    id: str
    question: str
    status: str
    detail: str = ""
    answered: bool | None = None
    markdown: str = ""
    citations: tuple[Citation, ...] = ()
    usage: Usage = Usage()


class FollowUps(Answer):
    """Questions, newest first."""

    items: tuple[FollowUp, ...]
    next: str | None = None


class Words(Answer):
    """Words that stayed (`same`), came (`added`) or went (`removed`)."""

    change: str
    text: str


class SectionDiff(Answer):
    """What became of a section."""

    change: str
    old: int | None
    new: int | None
    heading: str
    old_heading: str = ""
    words: tuple[Words, ...] = ()


class Diff(Answer):
    """All sections of two versions, in the order of the second."""

    sections: tuple[SectionDiff, ...]


class SidesQuote(Answer):
    """Words of a source."""

    text: str
    source: CitedSource = CitedSource()


class Side(Answer):
    """One voice of a disagreement; `n` is its number in the report, None where the report does not cite it."""

    n: int | None = None
    quote: SidesQuote


class Disagreement(Answer):
    """What is in dispute: between `sources`, or a `claim` of the report against its own source."""

    kind: str
    about: str
    sides: tuple[Side, ...] = ()
    reason: str = ""


class Disagreements(Answer):
    """Those between sources first."""

    items: tuple[Disagreement, ...] = ()


class Figure(Answer):
    """A number with its unit as the quotation `n` gives it."""

    text: str
    year: int | None = None
    statement: str = ""
    n: int


class Point(Answer):
    """A bar of a chart, in the chart's unit; the number is given by the quotation `n`."""

    label: str
    value: float
    text: str
    n: int


class Chart(Answer):
    """Numbers that compare: one subject, one unit."""

    title: str
    unit: str
    points: tuple[Point, ...] = ()


class Figures(Answer):
    """Numbers in the order of their citations, and charts of those that compare."""

    items: tuple[Figure, ...] = ()
    charts: tuple[Chart, ...] = ()


class Link(Answer):
    """A link to a shared version. Its `token` is told when it is made, and never again."""

    id: str
    version: int
    expires_at: datetime
    revoked_at: datetime | None = None
    token: str = ""


class Links(Answer):
    """A run's links, newest first."""

    items: tuple[Link, ...]


class Reports:
    """Everything around finished reports, over one client.

    Raises:
        ApiProblem: as `ApiClient`.
    """

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    def export(self, run_id: str, form: str, version: int | None = None) -> bytes:
        """The report as a file: pdf, docx, latex, html, md, json, bibtex, ris or csl."""
        query = {"format": form} | ({"version": str(version)} if version else {})
        return self._client._send("GET", f"/v1/runs/{run_id}/export", query=query).content

    def versions(self, run_id: str) -> VersionPage:
        """All versions, newest first."""
        return self._client._parse(VersionPage, self._client._send("GET", f"/v1/runs/{run_id}/versions", query={"limit": "100"}))

    def version(self, run_id: str, n: int) -> WholeVersion:
        """One version with its sections."""
        return self._client._parse(WholeVersion, self._client._send("GET", f"/v1/runs/{run_id}/versions/{n}"))

    def diff(self, run_id: str, old: int, new: int) -> Diff:
        """What changed from one version to the other."""
        path = f"/v1/runs/{run_id}/versions/{old}/diff"
        return self._client._parse(Diff, self._client._send("GET", path, query={"with": str(new)}))

    def revert(self, run_id: str, n: int, newest: int) -> Version:
        """Make version `n` the newest again; `newest` is the one the reader sees."""
        path = f"/v1/runs/{run_id}/versions/{n}/revert"
        return self._client._parse(Version, self._client._send("POST", path, headers=_matching(newest)))

    def edit(self, run_id: str, section: int, heading: str, markdown: str, version: int) -> Task:
        """The reader's own words for a section of `version`."""
        path, body = f"/v1/runs/{run_id}/sections/{section}", {"heading": heading, "markdown": markdown}
        return self._client._parse(Task, self._client._send("PUT", path, body=body, headers=_matching(version)))

    def rewrite(self, run_id: str, section: int, how: str, wish: str, version: int) -> Task:
        """Have a section of `version` written again (`rewrite`) or deepened (`deepen`)."""
        path, body = f"/v1/runs/{run_id}/sections/{section}/rewrite", {"how": how, "wish": wish}
        return self._client._parse(Task, self._client._send("POST", path, body=body, headers=_matching(version)))

    def latest_change(self, run_id: str) -> Task | None:
        """The change that was asked for last, if any was."""
        found = self._client._send("GET", f"/v1/runs/{run_id}/changes", query={"limit": "1"})
        return next(iter(self._client._parse(Tasks, found).items), None)

    def change(self, run_id: str, task_id: str) -> Task:
        """Where a change stands."""
        return self._client._parse(Task, self._client._send("GET", f"/v1/runs/{run_id}/changes/{task_id}"))

    def ask(self, run_id: str, question: str) -> FollowUp:
        """A further question to the evidence of the run."""
        sent = self._client._send("POST", f"/v1/runs/{run_id}/questions", body={"question": question})
        return self._client._parse(FollowUp, sent)

    def questions(self, run_id: str) -> FollowUps:
        """Follow-up questions with their answers, newest first."""
        return self._client._parse(FollowUps, self._client._send("GET", f"/v1/runs/{run_id}/questions", query={"limit": "50"}))

    def contradictions(self, run_id: str) -> Disagreements:
        """Where sources disagree."""
        return self._client._parse(Disagreements, self._client._send("GET", f"/v1/runs/{run_id}/contradictions"))

    def figures(self, run_id: str) -> Figures:
        """Numbers that the cited quotes give, and charts of those that compare."""
        return self._client._parse(Figures, self._client._send("GET", f"/v1/runs/{run_id}/figures"))

    def share(self, run_id: str, days: int, version: int | None = None) -> Link:
        """A link that anybody may read until it ends."""
        body = {"days": days, "version": version}
        return self._client._parse(Link, self._client._send("POST", f"/v1/runs/{run_id}/shares", body=body))

    def links(self, run_id: str) -> Links:
        """The run's links."""
        return self._client._parse(Links, self._client._send("GET", f"/v1/runs/{run_id}/shares"))

    def revoke(self, run_id: str, share_id: str) -> None:
        """End a link now."""
        self._client._send("DELETE", f"/v1/runs/{run_id}/shares/{share_id}")


def _matching(version: int) -> dict[str, str]:
    return {"If-Match": f'"{version}"'}
