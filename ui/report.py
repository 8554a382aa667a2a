"""A report as the page shows it: from a run, from one side of a comparison, or the answer to a further question."""

from collections.abc import Sequence

from rubrica_client.models import AnswerView, CandidateView, Citation, Claim, ReportView
from rubrica_client.values import Value


class PageReport(Value):
    """A Markdown text with numbers such as [1] in it, the citation behind each number, and how well each claim is supported."""

    markdown: str
    title: str = ""
    version: int = 1
    citations: Sequence[Citation] = ()
    claims: Sequence[Claim] = ()

    @classmethod
    def of(cls, view: ReportView | CandidateView) -> "PageReport":
        """Make it from an answer of the API."""
        version = view.version if isinstance(view, ReportView) else 1
        return cls(markdown=view.markdown, title=view.title, version=version, citations=view.citations, claims=view.claims)

    @classmethod
    def of_answer(cls, answer: AnswerView) -> "PageReport":
        """Make it from the answer to a further question."""
        return cls(markdown=answer.markdown, citations=answer.citations, claims=answer.claims)
