"""Making a set of evidence trees: each seed topic becomes a row, or falls out at a stage (DeepRubric Algorithm 1).

worked = await make_trees(corpus, TreeKits(writer, verifier), wanted=100, seed=1, journal=journal)
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from app.domain.evidence_rubric import EvidenceRubric, Variant
from app.domain.missing import Missing
from app.domain.query import Language
from training.synthesis.evidence_trees.audit import TreeAudit, describe_audit
from training.synthesis.evidence_trees.checks import REVISED_CHECKS, find_violations
from training.synthesis.evidence_trees.growth import grow_tree, plant_root
from training.synthesis.evidence_trees.merging import merge_tree
from training.synthesis.evidence_trees.pair import QueryWithRubric
from training.synthesis.evidence_trees.row import TreeRow, count_row, count_tree
from training.synthesis.evidence_trees.topics import SeedTopic
from training.synthesis.evidence_trees.tree import MOST_CHILDREN, EvidenceTree, as_evidence_leaf
from training.synthesis.evidence_trees.variants import write_variants
from training.synthesis.source_corpus import SourceCorpus
from training.synthesis.training_set.outcome import KeptRow, RefusedCandidate
from workflows.agents.kit import Kit
from workflows.agents.ports import Record
from workflows.judging.rubric_verification import verify_pair

OpenKit = Callable[[Record, Language], Kit]


class TreeStage(StrEnum):
    """The stages at which a seed topic may fall out, in their order."""

    TOPIC = "topic"
    GROWTH = "growth"
    MERGE = "merge"
    CHECKS = "checks"
    VERIFICATION = "verification"
    REVISION = "revision"
    VARIANTS = "variants"


@dataclass(frozen=True, slots=True)
class TreeKits:
    """Open the kit of the model that grows and merges trees, and that of a separate model that verifies."""

    open_writer: OpenKit
    open_verifier: OpenKit


@dataclass(frozen=True, slots=True)
class _Draft:
    """What there is of a row so far."""

    topic: SeedTopic
    tree: EvidenceTree
    pair: QueryWithRubric
    query: str
    rubric: EvidenceRubric
    audit: TreeAudit


@dataclass(frozen=True, slots=True)
class TreeMaking:
    """Makes rows of seed topics, from trees of this breadth. Each row has the rubrics of these `variants` besides its own."""

    corpora: Mapping[str, SourceCorpus]
    kits: TreeKits
    variants: frozenset[Variant] = frozenset()
    most_children: Sequence[int] = MOST_CHILDREN

    async def make_row(self, topic: SeedTopic, record: Record) -> KeptRow | RefusedCandidate:
        """Make the row of one seed topic, or say at which stage it falls out, and why."""
        writer = self.kits.open_writer(record, topic.language)
        tree = await self._grow(topic, writer)
        if isinstance(tree, RefusedCandidate):
            return tree
        pair = await self._merge(topic, writer, tree)
        if isinstance(pair, RefusedCandidate):
            return pair
        draft = await self._verify(topic, self.kits.open_verifier(record, topic.language), tree, pair)
        return draft if isinstance(draft, RefusedCandidate) else await self._finish(draft, writer)

    async def _grow(self, topic: SeedTopic, kit: Kit) -> EvidenceTree | RefusedCandidate:
        corpus = self.corpora[topic.corpus]
        root = await plant_root(kit, corpus, topic)
        if isinstance(root, Missing):
            return refuse_topic(topic, TreeStage.TOPIC, root.reason)
        tree = await grow_tree(kit, corpus, root, self.most_children)
        if len(tree.nodes) == 1:
            why = tree.failures or tree.root.leaf
            return refuse_topic(topic, TreeStage.GROWTH, f"the root has no children: {why}", tree)
        return tree

    async def _merge(self, topic: SeedTopic, kit: Kit, tree: EvidenceTree) -> QueryWithRubric | RefusedCandidate:
        pair = await merge_tree(kit, topic.title, tree)
        if isinstance(pair, Missing):
            return refuse_topic(topic, TreeStage.MERGE, pair.reason, tree)
        if broken := find_violations(pair, tree):
            return refuse_topic(topic, TreeStage.CHECKS, f"it breaks {', '.join(broken)}", tree, pair)
        return pair

    async def _verify(self, topic: SeedTopic, kit: Kit, tree: EvidenceTree, pair: QueryWithRubric) -> _Draft | RefusedCandidate:
        leaves = [as_evidence_leaf(leaf) for leaf in tree.leaves if leaf.id in pair.selected_ids]
        found = await verify_pair(kit, pair.query, pair.rubric, leaves, pair.describe_merges())
        if isinstance(found, Missing):
            return refuse_topic(topic, TreeStage.VERIFICATION, found.reason, tree, pair)
        audit = describe_audit(found, pair, tree)
        if found.rubric is None:
            return refuse_topic(topic, TreeStage.VERIFICATION, f"dropped: {found.reason}", tree, pair, audit)
        final = pair.model_copy(update={"query": found.question, "rubric": found.rubric})
        if broken := find_violations(final, tree, REVISED_CHECKS):
            return refuse_topic(topic, TreeStage.REVISION, f"it breaks {', '.join(broken)}", tree, pair, audit)
        return _Draft(topic, tree, pair, found.question, found.rubric, audit)

    async def _finish(self, draft: _Draft, kit: Kit) -> KeptRow | RefusedCandidate:
        topic = draft.topic
        written = await write_variants(kit, self.corpora[topic.corpus], draft.query, draft.pair.rubric, self.variants)
        if isinstance(written, Missing):
            return refuse_topic(topic, TreeStage.VARIANTS, written.reason, draft.tree, draft.pair, draft.audit)
        row = TreeRow(
            title=topic.title,
            seed=topic.address,
            rubric=draft.rubric,
            pair=draft.pair,
            audit=draft.audit,
            variants=written.rubrics,
            tree=draft.tree,
        )
        return KeptRow(
            query=draft.query,
            topic=topic.category,
            language=topic.language,
            documents=tuple(dict.fromkeys((*row.list_documents(), *written.documents))),
            data=row.model_dump(mode="json"),
            counts=count_row(row),
        )


def refuse_topic(
    topic: SeedTopic,
    stage: TreeStage,
    reason: str,
    tree: EvidenceTree | None = None,
    pair: QueryWithRubric | None = None,
    audit: TreeAudit | None = None,
) -> RefusedCandidate:
    """Return a topic as one that fell out. Of its tree there are only the numbers, for a report to count."""
    data: dict[str, Any] = {"topic": topic.title, "seed": topic.address, "category": topic.category, "language": topic.language}
    if tree is not None:
        data |= {"counts": count_tree(tree), "fallen": [one.model_dump(mode="json") for one in tree.fallen]}
    data |= {name: one.model_dump(mode="json") for name, one in (("pair", pair), ("audit", audit)) if one is not None}
    return RefusedCandidate(stage=stage, reason=reason, data=data)
