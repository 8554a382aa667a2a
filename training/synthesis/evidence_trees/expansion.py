"""Proposing the children of a node, and the gate before them: two calls of a model (DeepRubric Eq. 1, appendix C.2)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pydantic import Field, model_validator

from app.domain.missing import Missing
from app.domain.options import to_one_line
from training.synthesis.evidence_trees.checks import say_the_same
from training.synthesis.evidence_trees.tree import MANDATORY, Facet, FallenChild, FallReason, TreeNode
from workflows.agents.kit import Kit
from workflows.agents.steps import StepAnswer, declare_step
from workflows.judging.judge_call import ask_judge

SHOWN_STATEMENTS = 8


class ProposalAnswer(StepAnswer):
    """One proposed child."""

    main = "question"

    question: str = Field(default="", description="the child's question")
    facet: str = Field(default="", description="the side it looks at", json_schema_extra={"enum": [*Facet]})


class ExpansionAnswer(StepAnswer):
    """The proposed children. An answer that misses a mandatory facet is asked for again, with its name."""

    comparison: str = Field(default="", description="a question that compares or treats alternatives")
    risks: str = Field(default="", description="a question about what went or may go wrong")
    quantities: str = Field(default="", description="a question about figures, amounts or rates")
    others: tuple[ProposalAnswer, ...] = Field(default=(), description="questions about other sides, if any")

    @model_validator(mode="after")
    def _require_facets(self) -> "ExpansionAnswer":
        missing = [facet for facet, question in self.list_mandatory() if not question.strip()]
        if missing and (self.others or len(missing) < len(MANDATORY)):
            raise ValueError(f"no child has the facet {', '.join(missing)}")
        return self

    def list_mandatory(self) -> list[tuple[Facet, str]]:
        """Return the question of each mandatory facet; empty where there is none."""
        return [(Facet.COMPARISON, self.comparison), (Facet.RISKS, self.risks), (Facet.QUANTITIES, self.quantities)]


class GateAnswer(StepAnswer):
    """The decision of the gate."""

    passing: tuple[str, ...] = Field(default=(), description="numbers of the proposals that pass; none if no one does")
    reason: str = Field(default="", description="what decides it, in one sentence")


EXPANSION = declare_step("tree_expansion", ExpansionAnswer, max_tokens=1_000)
GATE = declare_step("tree_gate", GateAnswer, max_tokens=400)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposed child."""

    question: str
    facet: Facet


def _read_facet(said: str) -> Facet:
    told = said.strip().lower()
    return Facet(told) if told in [*Facet] else Facet.OTHER


async def propose_children(kit: Kit, node: TreeNode, path: Sequence[TreeNode], most: int) -> tuple[Proposal, ...] | Missing:
    """Ask for children; none if the question is atomic. Missing if the call fails or a mandatory facet stays out."""

    def read(said: ExpansionAnswer) -> tuple[Proposal, ...]:
        children = [*said.list_mandatory(), *((_read_facet(child.facet), child.question) for child in said.others)]
        return tuple(Proposal(asked, facet) for facet, question in children if (asked := to_one_line(question)))

    return await ask_judge(kit, EXPANSION, read, limit=str(most), **_show_node(node, path))


def select_proposals(
    proposed: Iterable[Proposal], node: TreeNode, path: Sequence[TreeNode], most: int
) -> tuple[list[Proposal], list[FallenChild]]:
    """Return the first `most` of the proposals that repeat no ancestor and no sibling. Those of mandatory facets come first."""
    above = [one.question for one in (*path, node)]
    kept: list[Proposal] = []
    fallen: list[FallenChild] = []
    for proposal in proposed:
        known = [*above, *(sibling.question for sibling in kept)]
        repeated = next((question for question in known if say_the_same(question, proposal.question)), "")
        if repeated:
            fallen.append(drop_proposal(proposal, node, FallReason.REPEATS, repeated))
        elif len(kept) == most:
            fallen.append(drop_proposal(proposal, node, FallReason.OVER_LIMIT))
        else:
            kept.append(proposal)
    return kept, fallen


async def pass_gate(
    kit: Kit, node: TreeNode, path: Sequence[TreeNode], proposals: Sequence[Proposal]
) -> tuple[list[Proposal], list[FallenChild]] | Missing:
    """Ask which proposals open something new; missing if the call fails."""
    shown = "\n".join(f"{number}. [{one.facet}] {one.question}" for number, one in enumerate(proposals, 1))

    def read(said: GateAnswer) -> tuple[list[Proposal], list[FallenChild]]:
        numbers = {told.strip().strip(".[]") for told in said.passing}
        passing = [one for number, one in enumerate(proposals, 1) if str(number) in numbers]
        stopped = [one for one in proposals if one not in passing]
        return passing, [drop_proposal(one, node, FallReason.GATED, to_one_line(said.reason)) for one in stopped]

    return await ask_judge(kit, GATE, read, proposals=shown, **_show_node(node, path))


def drop_proposal(proposal: Proposal, node: TreeNode, reason: FallReason, detail: str = "") -> FallenChild:
    """Return a proposal as one that does not stand."""
    return FallenChild(parent=node.id, question=proposal.question, facet=proposal.facet, reason=reason, detail=detail)


def _show_node(node: TreeNode, path: Sequence[TreeNode]) -> dict[str, str]:
    return {
        "path": "\n".join(f"{one.depth}. {one.question}" for one in path) or "-",
        "question": node.question,
        "statements": "\n".join(f"- {statement}" for statement in node.statements[:SHOWN_STATEMENTS]),
    }
