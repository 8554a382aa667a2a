"""Grounding a question: the passages that support it, and what they state (DeepRubric section 3.1, appendix C.2 step 4).

The paper selects passages and extracts statements in two calls; here one call does both, and a statement is the passage's own
words. What the model copies is looked up in the passage, so nothing that no passage says can stand in a tree.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import Field

from app.domain.errors import ToolError
from app.domain.evidence import Passage
from app.domain.missing import Missing
from training.synthesis.evidence_trees.tree import MOST_STATEMENTS, GroundingPassage, Statement
from training.synthesis.source_corpus import SourceCorpus
from workflows.agents.kit import Kit
from workflows.agents.quoting import quote_from
from workflows.agents.steps import StepAnswer, declare_step
from workflows.agents.untrusted import as_source
from workflows.judging.judge_call import ask_judge

RETRIEVED = 6
MOST_PASSAGES = 4
PASSAGE_CHARS = 1_600


class ChosenPassageAnswer(StepAnswer):
    """One passage that helps."""

    main = "passage"

    passage: str = Field(default="", description="id of the passage, such as p2")
    statements: tuple[str, ...] = Field(default=(), description="1 to 3 statements of it, copied exactly")


class GroundingAnswer(StepAnswer):
    """The passages that help."""

    passages: tuple[ChosenPassageAnswer, ...] = Field(default=(), description="the passages that help; none if no one does")


GROUNDING = declare_step("tree_grounding", GroundingAnswer, max_tokens=2_000)


@dataclass(frozen=True, slots=True)
class Grounding:
    """The passages that support a question, perhaps none. `lost` statements were thrown away; `failure`: why no call answered."""

    passages: tuple[GroundingPassage, ...] = ()
    lost: int = 0
    failure: str = ""


async def ground_question(kit: Kit, corpus: SourceCorpus, question: str) -> Grounding:
    """Search for a question, and ask a model which of the results support it."""
    try:
        found = await corpus.search(question, RETRIEVED)
    except ToolError as error:
        return Grounding(failure=f"search: {error}")
    if not found:
        return Grounding()
    known = {f"p{number}": passage for number, passage in enumerate(found, 1)}
    shown = "\n\n".join(
        f"[{short}] {as_source(one.source.title)}\n{as_source(one.text[:PASSAGE_CHARS])}" for short, one in known.items()
    )
    said = await ask_judge(kit, GROUNDING, lambda said: _read_grounding(said, known), question=question, passages=shown)
    return Grounding(failure=said.reason) if isinstance(said, Missing) else said


def _read_grounding(said: GroundingAnswer, known: Mapping[str, Passage]) -> Grounding:
    passages: dict[str, GroundingPassage] = {}
    lost = 0
    for chosen in said.passages[:MOST_PASSAGES]:
        named = known.get(chosen.passage.strip().strip("[]").lower())
        # Small models write the title for the id: then the passage is the one in which the statements stand.
        tried = [(one, _locate_statements(one, chosen)) for one in ([named] if named else known.values())]
        passage, statements = next((each for each in tried if each[1]), (None, ()))
        lost += min(len(chosen.statements), MOST_STATEMENTS) - len(statements)
        if passage and statements:
            before = passages[passage.key].statements if passage.key in passages else ()
            every = tuple(dict.fromkeys((*before, *statements)))
            lost += len(every) - len(every[:MOST_STATEMENTS])
            passages[passage.key] = _make_passage(passage, every[:MOST_STATEMENTS])
    return Grounding(tuple(passages.values()), lost)


def _locate_statements(passage: Passage, chosen: ChosenPassageAnswer) -> tuple[Statement, ...]:
    quotes = (quote_from(passage, said) for said in chosen.statements[:MOST_STATEMENTS])
    found = {quote.text: Statement(text=quote.text, start=quote.start, end=quote.end) for quote in quotes if quote}
    return tuple(found.values())


def _make_passage(passage: Passage, statements: tuple[Statement, ...]) -> GroundingPassage:
    source = passage.source
    return GroundingPassage(
        address=source.url,
        title=source.title,
        snapshot=source.snapshot,
        start=passage.start,
        end=passage.end,
        statements=statements,
    )
