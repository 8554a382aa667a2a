"""What the reader wants, as agents are told it. A plan from before its fields has all of it in the lines of its intent."""

from app.domain.plan import ReaderWants, ResearchPlan
from app.domain.query import Language
from workflows.agents.wording import say

FOR_WRITERS = ("form", "audience", "length", "readings")
FOR_ALL = ("scope", *FOR_WRITERS, "must_cover", "key_terms")


def tell_all(plan: ResearchPlan, language: Language) -> str:
    """Return the goal and all that is wanted, without empty fields."""
    return _tell(plan, FOR_ALL, language)


def tell_writer(plan: ResearchPlan, language: Language) -> str:
    """Return it without what searchers look for: points, held against a length, crowd a report."""
    return _tell(plan, FOR_WRITERS, language)


def _tell(plan: ResearchPlan, names: tuple[str, ...], language: Language) -> str:
    lines = (f"{say(name, language)}: {said}" for name in names if (said := _read_field(plan.wants, name)))
    return "\n".join(filter(None, [plan.intent, *lines]))


def _read_field(wants: ReaderWants, name: str) -> str:
    value = getattr(wants, name)
    return value if isinstance(value, str) else "; ".join(value)
