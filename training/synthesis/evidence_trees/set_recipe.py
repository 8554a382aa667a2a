"""The kind of set that evidence trees make, for `rubrica data make evidence-trees`."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from app.domain.errors import InvalidInput
from app.domain.evidence_rubric import Variant
from app.domain.query import Language
from training.synthesis.catalogue import SetKind
from training.synthesis.evidence_trees.making import TreeKits, TreeMaking
from training.synthesis.evidence_trees.query_map import render_query_map
from training.synthesis.evidence_trees.statistics import count_figures
from training.synthesis.evidence_trees.topics import SeedTopic, draw_from_corpora, draw_once
from training.synthesis.evidence_trees.tree import DEEPEST, FEWEST_CHILDREN, MOST_CHILDREN
from training.synthesis.source_corpus import SourceCorpus
from training.synthesis.training_set.folder import WORK
from training.synthesis.training_set.recipe import SetRecipe
from training.synthesis.workshop import Workshop

TOPICS = f"{WORK}/topics.jsonl"
FURTHER = (Variant.UNREVISED, Variant.SEARCH, Variant.CLOSED_BOOK)


def open_recipe(workshop: Workshop) -> SetRecipe[SeedTopic]:
    """Return the recipe.

    Options: `variants` (comma-separated: unrevised, search, closed_book), `language` (en or zh), and `children`: the most at
    each depth, `6,4,3` in the paper.

    Raises:
        InvalidInput: there is no corpus, or an option has an unknown value.
    """
    if not workshop.corpora:
        raise InvalidInput("evidence-trees needs a --corpus")
    options = workshop.request.options
    variants = [one for one in options.get("variants", "").split(",") if one]
    language = options.get("language")
    if any(one not in [*FURTHER] for one in variants) or language not in (None, *Language):
        raise InvalidInput(f"evidence-trees takes variants ({', '.join(FURTHER)}) and language ({' or '.join(Language)})")
    kits = TreeKits(workshop.open_writer, workshop.open_verifier)
    return make_recipe(
        workshop.corpora,
        kits,
        workshop.request.seed,
        Language(language) if language else None,
        frozenset(Variant(one) for one in variants),
        read_most_children(options.get("children", "")),
        workshop.request.out / TOPICS,
    )


def read_most_children(said: str) -> tuple[int, ...]:
    """Read the most children of a node at each depth; the paper's where nothing is said.

    Raises:
        InvalidInput: these are not one to three numbers of at least two.
    """
    most = tuple(int(one) if one.isdecimal() else 0 for one in said.split(",")) if said else MOST_CHILDREN
    if len(most) > DEEPEST or min(most) < FEWEST_CHILDREN:
        raise InvalidInput(f"--option children is one to {DEEPEST} numbers from {FEWEST_CHILDREN} on, like 6,4,3, not {said}")
    return most


def make_recipe(
    corpora: Sequence[SourceCorpus],
    kits: TreeKits,
    seed: int,
    language: Language | None = None,
    variants: frozenset[Variant] = frozenset(),
    most_children: Sequence[int] = MOST_CHILDREN,
    kept: Path | None = None,
) -> SetRecipe[SeedTopic]:
    """Return the recipe of trees from these corpora, all languages or one. Each row has the rubrics of `variants` too.

    The drawn topics are stored in the file `kept`, so that a set that goes on need not draw again.
    """
    making = TreeMaking({corpus.name: corpus for corpus in corpora}, kits, variants, most_children)
    draw = partial(draw_from_corpora, corpora, seed, language)
    candidates = draw_once(kept, draw) if kept else draw()
    encoder = corpora[0].open_encoder
    trained, show = ("rubric", "variants"), render_query_map
    return SetRecipe(candidates, making.make_row, count_figures, illustrate=show, open_encoder=encoder, trained=trained)


EVIDENCE_TREES = SetKind(
    name="evidence-trees",
    about="research queries with evidence-grounded rubrics, merged from trees of sub-questions (needs a corpus and a model)",
    open_recipe=open_recipe,
    options=frozenset({"variants", "language", "children"}),
)
