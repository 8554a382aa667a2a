"""Small mistakes that cosmic-ray can plant in a module: where they are, and the module's source with one of them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from parso.tree import NodeOrLeaf


@dataclass(frozen=True)
class Mutation:
    """One mistake: the `occurrence`th place (from 0) of the module at which cosmic-ray's operator can be applied."""

    module: str
    line: int
    operator: str
    occurrence: int

    def apply(self, source: str) -> str:
        """Return the module's source with the mistake.

        Raises:
            ValueError: the source has no such place.
        """
        mutated: str | None = mutate_code(source, get_operator(self.operator)(), self.occurrence)
        if mutated is None:
            raise ValueError(f"{self.module} has no place {self.occurrence} for {self.operator}")
        return mutated


def list_mutations(root: Path, module: str, operators: Iterable[str]) -> Iterator[Mutation]:
    """List every mistake that the operators can plant in a module's logic; `module` is its path below `root`."""
    tree = get_ast((root / module).read_text())
    for name in operators:
        operator = get_operator(name)()
        places = ((node, start) for node in ast_nodes(tree) for start, _ in operator.mutation_positions(node))
        for occurrence, (node, (line, _)) in enumerate(places):
            if _is_logic(node) and not _has_dotted_name(node):
                yield Mutation(module, line, name, occurrence)


def _is_logic(node: NodeOrLeaf) -> bool:
    """Return False inside decorators and constants of the module: one character more or less in a limit is no mistake.

    Nor is it one that a field may also be given (`init`), which nobody does.
    """
    while node.parent is not None:
        if node.type == "decorator" or (node.type == "simple_stmt" and node.parent.type == "file_input"):
            return False
        if node.type == "argument" and node.get_code(include_prefix=False).startswith("init="):
            return False
        node = node.parent
    return True


def _has_dotted_name(node: NodeOrLeaf) -> bool:
    """Say whether a clause catches `module.Error`: cosmic-ray replaces plain names only, and fails on others."""
    return node.type == "except_clause" and "." in node.get_code()


def show_change(before: str, after: str) -> str:
    """Show the lines that differ, old ones marked with `-` and new ones with `+`."""
    lines = unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    return "\n".join(line for line in lines if line[:1] in "+-" and not line.startswith(("+++", "---")))
