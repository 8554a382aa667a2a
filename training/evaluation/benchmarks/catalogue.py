"""The benchmarks by name. Each is imported at its first use."""

from importlib import import_module

from app.domain.errors import InvalidInput
from training.evaluation.harness.example import AnyBenchmark

LOCATIONS = {
    "drb-race": ("drb", "RACE"),
    "drb-fact": ("drb_fact", "FACT"),
    "drb-writing": ("drb_writing", "WRITING"),
    "drb2": ("rubric_sets", "DRB2"),
    "researchqa": ("rubric_sets", "RESEARCHQA"),
    "scholarqa": ("scholarqa", "SCHOLARQA"),
    "preference": ("preference", "PREFERENCE"),
    "multihop": ("short_answers", "MULTIHOP"),
    "browsecomp": ("short_answers", "BROWSECOMP"),
    "browsecomp-zh": ("short_answers", "BROWSECOMP_ZH"),
    "gaia": ("short_answers", "GAIA"),
    "xbench": ("short_answers", "XBENCH"),
    "widesearch": ("widesearch", "WIDESEARCH"),
    "retrieval": ("retrieval", "RETRIEVAL"),
    "graph-set": ("graph_set", "GRAPH_SET"),
    "graph-requests": ("graph_set", "GRAPH_REQUESTS"),
    "tree-set": ("tree_set", "TREE_SET"),
}


def load_benchmark(name: str) -> AnyBenchmark:
    """Load the benchmark of this name.

    Raises:
        InvalidInput: there is none; the message lists the known names.
    """
    if name not in LOCATIONS:
        raise InvalidInput(f"there is no benchmark {name!r}; there are {', '.join(sorted(LOCATIONS))}")
    module, attribute = LOCATIONS[name]
    found: AnyBenchmark = getattr(import_module(f"training.evaluation.benchmarks.{module}"), attribute)
    return found
