"""Comparing, rating and annotating over HTTP."""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from ui.api_client import ApiClient
from ui.models import Answer, Citation, Claim


class Candidate(Answer):
    """A report as it is compared: Markdown with [n] in it, and what each n is."""

    title: str
    markdown: str
    citations: tuple[Citation, ...] = ()
    claims: tuple[Claim, ...] = ()


class Reason(Answer):
    """Which side was better in one dimension; None: neither."""

    dimension: str
    side: str | None = None


class Choice(Answer):
    """One's own choice. It may be changed until `changeable_until`, and until it is revealed which report was which."""

    verdict: str
    strength: int | None = None
    reasons: tuple[Reason, ...] = ()
    comment: str = ""
    seconds: float = 0.0
    made_at: datetime
    changeable_until: datetime | None = None


class Comparison(Answer):
    """A comparison, blind. `status` is `preparing`, `ready`, `same` (both came out so) or `failed`; `detail` says why."""

    id: str
    run_id: str
    question: str
    status: str
    detail: str = ""
    left: Candidate | None = None
    right: Candidate | None = None
    choice: Choice | None = None
    revealed: bool = False


class ComparisonItem(Answer):
    """A comparison in a list."""

    id: str
    run_id: str
    question: str
    status: str
    created_at: datetime
    chosen: bool


class ComparisonPage(Answer):
    """Comparisons, newest first."""

    items: tuple[ComparisonItem, ...] = ()
    next: str | None = None


class Unveiled(Answer):
    """What one report was: the run's own (`delivered`), and the way it was written."""

    delivered: bool
    way: str
    tokens: int = 0
    cost_microusd: int = 0


class Reveal(Answer):
    """Which report was which."""

    left: Unveiled
    right: Unveiled
    choice: Choice


class Assignment(Answer):
    """A pair to judge, blind."""

    id: str
    question: str
    left: Candidate
    right: Candidate
    expires_at: datetime


class NextAssignment(Answer):
    """What to judge now; None: nothing."""

    assignment: Assignment | None = None


class Agreement(Answer):
    """Agreement over pairs that several people judged; `kappa` is Fleiss', None where it is undefined."""

    pairs: int = 0
    observed: float | None = None
    kappa: float | None = None


class AgreementReport(Answer):
    """Of the verdicts, and of the reasons by dimension."""

    overall: Agreement = Agreement()
    dimensions: Mapping[str, Agreement] = MappingProxyType({})


class Rating(Answer):
    """One's own stars."""

    stars: int
    comment: str = ""


class Flag(Answer):
    """A claim that one calls wrong."""

    claim: int
    text: str
    reason: str


class Flags(Answer):
    """One's own flags in a report."""

    items: tuple[Flag, ...] = ()


class Consent(Answer):
    """Whether one's data may go into training: `given` when both have said so."""

    given: bool
    person_since: datetime | None = None
    organisation_since: datetime | None = None


class Way(Answer):
    """A way in which a report can be written here; `writer` is what `compare` takes."""

    name: str
    writer: dict[str, Any]


class Ways(Answer):
    """All of them."""

    items: tuple[Way, ...] = ()


def ways(api: ApiClient) -> tuple[Way, ...]:
    """In which ways a second report can be written here."""
    return api._parse(Ways, api._send("GET", "/v1/preferences/ways")).items


def compare(api: ApiClient, run_id: str, writer: Mapping[str, Any]) -> Comparison:
    """Have a second report written over a run's evidence. Ask for the comparison until it is ready."""
    return api._parse(Comparison, api._send("POST", "/v1/comparisons", body={"run_id": run_id, "writer": dict(writer)}))


def comparison(api: ApiClient, id_: str) -> Comparison:
    """Look at a comparison: the first look at two reports starts the clock."""
    return api._parse(Comparison, api._send("GET", f"/v1/comparisons/{id_}"))


def comparisons(api: ApiClient, run_id: str | None = None, before: str | None = None) -> ComparisonPage:
    """A page of comparisons, newest first."""
    query = {name: value for name, value in (("run_id", run_id), ("before", before)) if value}
    return api._parse(ComparisonPage, api._send("GET", "/v1/comparisons", query=query))


def choose(api: ApiClient, id_: str, choice: Mapping[str, Any]) -> Choice:
    """Choose, or change the choice: `verdict`, `strength`, `reasons`, `comment`, `hidden_seconds`."""
    return api._parse(Choice, api._send("POST", f"/v1/comparisons/{id_}/choice", body=dict(choice)))


def reveal(api: ApiClient, id_: str) -> Reveal:
    """Be told which was which; the choice then stands."""
    return api._parse(Reveal, api._send("POST", f"/v1/comparisons/{id_}/reveal"))


def next_assignment(api: ApiClient) -> Assignment | None:
    """What to judge now as an annotator."""
    return api._parse(NextAssignment, api._send("GET", "/v1/annotations/next")).assignment


def judge(api: ApiClient, assignment_id: str, choice: Mapping[str, Any]) -> None:
    """Judge one's pair. The answer stands."""
    api._send("POST", f"/v1/annotations/{assignment_id}", body=dict(choice))


def skip(api: ApiClient, assignment_id: str, reason: str) -> None:
    """Pass one's pair over."""
    api._send("POST", f"/v1/annotations/{assignment_id}/skip", body={"reason": reason})


def have_judged(api: ApiClient, comparison_id: str, overlap: int) -> None:
    """Have a comparison judged by so many annotators."""
    api._send("POST", "/v1/annotations", body={"comparison_ids": [comparison_id], "overlap": overlap})


def agreement(api: ApiClient) -> AgreementReport:
    """How far annotators agree beyond chance."""
    return api._parse(AgreementReport, api._send("GET", "/v1/annotations/agreement"))


def rate(api: ApiClient, run_id: str, stars: int, comment: str = "") -> Rating:
    """Rate a run's report as it was delivered."""
    return api._parse(
        Rating, api._send("POST", f"/v1/runs/{run_id}/rating", body={"stars": stars, "comment": comment, "version": 1})
    )


def flag(api: ApiClient, run_id: str, claim: int, reason: str, version: int = 1) -> Flag:
    """Say that a claim, counted from 0 in a version of the report, is wrong."""
    body = {"reason": reason, "version": version}
    return api._parse(Flag, api._send("POST", f"/v1/runs/{run_id}/claims/{claim}/flag", body=body))


def unflag(api: ApiClient, run_id: str, claim: int) -> None:
    """Take a flag back."""
    api._send("DELETE", f"/v1/runs/{run_id}/claims/{claim}/flag")


def flags(api: ApiClient, run_id: str) -> tuple[Flag, ...]:
    """One's own flags in a report."""
    return api._parse(Flags, api._send("GET", f"/v1/runs/{run_id}/flags")).items


def consent(api: ApiClient) -> Consent:
    """Whether one's data may go into training."""
    return api._parse(Consent, api._send("GET", "/v1/consent"))


def set_consent(api: ApiClient, *, person: bool | None = None, organisation: bool | None = None) -> Consent:
    """Give or take back consent; None leaves it."""
    return api._parse(Consent, api._send("PUT", "/v1/consent", body={"person": person, "organisation": organisation}))
