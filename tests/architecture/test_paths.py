"""Paths of the API are made in one place, from parts of one form, and the API takes ids of no other form."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from infra.client_code import describe_api

ROOT = Path(__file__).resolve().parents[2]
CALLERS = ("rubrica_client", "ui", "infra")
# A link for the visitor's browser: its one parameter stands in the query and is encoded there.
BROWSER_LINKS = ("ui/views/sign_in.py",)
PATH = re.compile(r"^/?v1/|/v1/")
# They are compared with what there is, and the answer names nothing else.
COMPARED = ("response_id", "model")


def list_paths(text: str) -> Iterator[str]:
    """Yield each text of a program that is a path of the API, or a part of one. Docstrings are none."""
    tree = ast.parse(text)
    documents = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) and id(node) not in documents else None
        if isinstance(text, str) and PATH.search(text):
            yield text


def test_callers_of_the_api_write_no_paths() -> None:
    files = [path for package in CALLERS for path in sorted((ROOT / package).rglob("*.py"))]
    found = {path.relative_to(ROOT).as_posix(): list(list_paths(path.read_text())) for path in files}
    assert not {name: paths for name, paths in found.items() if paths and name not in BROWSER_LINKS}


def test_a_written_path_is_noticed() -> None:
    for text in ('f"/v1/runs/{run}"', '"/v1/runs/" + run', '"/v1/runs/%s" % run', '"/v1/runs/{}".format(run)', 'f"{run}/v1/me"'):
        assert list(list_paths(f"def f(run):\n    return {text}")), text
    assert not list(list_paths('def f(run):\n    """At `/v1/runs/{id}`."""\n    return Request("GET", ("v1", "runs", run))'))


def test_the_api_says_the_form_of_each_id() -> None:
    described = [told for item in describe_api()["paths"].values() for told in item.values()]
    named = [
        p for told in described for p in told.get("parameters", ()) if p["in"] == "path" and p["schema"].get("type") == "string"
    ]
    assert not {p["name"] for p in named if p["name"] not in COMPARED and not {"pattern", "format"} & set(p["schema"])}
