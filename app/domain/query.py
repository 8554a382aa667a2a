"""The question and its options."""

import unicodedata
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, Field, StringConstraints, field_validator, model_validator

from app.domain.budget import Budget
from app.domain.options import ReportStyle, SearchScope, SourceKind, to_one_line
from app.domain.safe_text import drop_invisible
from app.domain.script import count_ideographs, count_kana
from app.domain.served_models import SETTINGS_MODEL, RoleModels
from app.domain.value import Value
from app.domain.writer import WriterSettings

MAX_QUESTION_CHARS = 8_000


class SystemName(StrEnum):
    """The research systems; `minddr` is the default chain."""

    MINDDR = "minddr"
    MAMS = "mams"
    REACT = "react"
    DEEPRUBRIC = "deeprubric"


class Effort(StrEnum):
    """The effort that agents spend before they stop by themselves."""

    QUICK = "quick"
    STANDARD = "standard"
    DEEP = "deep"


class Language(StrEnum):
    """The language of prompts and report."""

    ENGLISH = "en"
    CHINESE = "zh"


def detect_language(text: str) -> Language:
    """Return Chinese when at least a fifth of the letters are CJK ideographs and few are kana, as in Japanese; else English."""
    ideographs = count_ideographs(text)
    if ideographs and count_kana(text) * 5 >= ideographs:
        return Language.ENGLISH
    return Language.CHINESE if ideographs and ideographs * 5 >= sum(map(str.isalpha, text)) else Language.ENGLISH


class Clarification(Value):
    """A question that was asked back, and the reader's answer."""

    question: Annotated[str, AfterValidator(to_one_line), StringConstraints(min_length=1, max_length=500)]
    answer: Annotated[str, AfterValidator(to_one_line), StringConstraints(min_length=1, max_length=1_000)]


class ResearchQuery(Value):
    """A question as accepted: cleaned, within bounds, with its options.

    `style` and `scope` are null where the reader chose nothing. With `approve_plan` nothing is searched before a person has
    approved the plan; with `rubric` the report is held to a rubric.
    """

    question: str
    language: Language = Language.ENGLISH
    language_chosen: bool = Field(
        default=False,
        exclude_if=lambda chosen: not chosen,
        description="True when the reader chose `language`; else answers are in the language of the question.",
    )
    system: SystemName = SystemName.MINDDR
    effort: Effort = Effort.STANDARD
    collections: tuple[str, ...] = Field(default=(), description="Collections to search; empty means the default one.")
    searched: tuple[str, ...] = Field(
        default=(), description="The same by their names in the index; set by the server where these differ."
    )
    suggested: bool = Field(
        default=False,
        description="True when nobody named the collections: they fit the question, and are searched besides the default one.",
    )
    tenant: str = Field(default="", description="The organisation whose own documents are searched; set by the server.")
    refreshes: UUID | None = Field(
        default=None, description="The run whose report this one brings up to date; set by the server."
    )
    evidence_of: UUID | None = Field(
        default=None, description="The run beside which this one works the same question on the same evidence; set by the server."
    )
    models: RoleModels = Field(
        default=SETTINGS_MODEL,
        exclude_if=lambda models: models == SETTINGS_MODEL,
        description="The models of its roles when the run was created; set by the server, and told to nobody.",
    )
    canary: UUID | None = Field(
        default=None,
        exclude_if=lambda canary: canary is None,
        description="The canary that had this second report made, which the deployment pays for; set by the server.",
    )
    budget: Budget = Budget()
    writer: WriterSettings = WriterSettings()
    style: ReportStyle | None = None
    scope: SearchScope | None = None
    clarified: tuple[Clarification, ...] = Field(default=(), max_length=3)
    approve_plan: bool = False
    rubric: bool = False
    one_conversation: bool = Field(
        default=False,
        description="For the system deeprubric: the answer that ends its search is the report; no second question.",
    )

    @property
    def full_question(self) -> str:
        """The question with the reader's answers to questions asked back."""
        return "\n".join((self.question, *(clarified.answer for clarified in self.clarified)))

    @property
    def searches_corpora(self) -> bool:
        """True when the installation's own corpora are searched. Collections that a person names replace them."""
        if self.scope and self.scope.sources:
            return SourceKind.CORPORA in self.scope.sources
        return self.suggested or not self.collections

    def without_writing(self) -> "ResearchQuery":
        """Return the question without the agreement to tools that write: the asker gave it for this asking alone."""
        if self.scope is None:
            return self
        return self.model_copy(update={"scope": self.scope.model_copy(update={"tools_that_write": ()})})

    def for_system(self, system: SystemName, first: UUID) -> "ResearchQuery":
        """Return the question for another system on the evidence of the run `first`, which alone waits for plan approval."""
        return self.model_copy(update={"system": system, "evidence_of": first, "approve_plan": False})

    @field_validator("question")
    @classmethod
    def _clean_question(cls, question: str) -> str:
        """Normalise to NFC, drop controls, turns of direction and invisible characters, refuse empty and oversized text."""
        if any("\ud800" <= c <= "\udfff" for c in question):
            raise ValueError("the question is not valid UTF-8 text; send it as UTF-8")
        kept = drop_invisible(unicodedata.normalize("NFC", question)).strip()
        if not any(c.isalnum() for c in kept):
            raise ValueError("the question is empty; write what you want to know")
        if len(kept) > MAX_QUESTION_CHARS:
            raise ValueError(
                f"the question has {len(kept)} characters; at most {MAX_QUESTION_CHARS} are accepted, "
                "put long material into a document"
            )
        return kept

    @model_validator(mode="after")
    def _check_sources(self) -> "ResearchQuery":
        sources = self.scope.sources if self.scope else ()
        if sources and self.collections and SourceKind.COLLECTIONS not in sources:
            raise ValueError("collections are named, but `sources` leaves them out; add `collections` to it or name none")
        if sources == (SourceKind.COLLECTIONS,) and not self.collections:
            raise ValueError("`sources` has only `collections`, and none is named; name them in `collections`")
        return self
