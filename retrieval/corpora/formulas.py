"""Formulas in one line: a fraction is a/b, a power x^2, a root √x. MathML (pages, books) and Office's own form are read."""

import re
from collections.abc import Sequence
from typing import Any

from lxml.etree import QName
from lxml.html import HtmlElement

_MACHINE_FORMS = ("annotation", "annotation-xml")
_SIGNS = {
    **{"msup": "^", "msub": "_", "msubsup": "_^", "mfrac": "/", "munder": "_", "mover": "^", "munderover": "_^"},
    **{"sSup": "^", "sSub": "_", "sSubSup": "_^", "f": "/", "limLow": "_", "limUpp": "^"},
}
"""What stands between the parts of an element, by its name in MathML or in Office."""
_ROWS = {"mtable": "; ", "mtr": ", ", "m": "; ", "mr": ", ", "eqArr": "; "}
_ONE_THING = re.compile(r"[√∛]?(?:\w+(?:[.,]\w+)*|\([^()]*\))|.?")


def write_formulas(page: HtmlElement) -> None:
    """Replace each formula in MathML by its visible text with signs. What it says only to machines (TeX) is left out."""
    for formula in [element for element in page.iter() if _name_of(element) == "math"]:
        written = " ".join(write_formula(formula).split())
        formula.clear(keep_tail=True)
        formula.tag, formula.text = "span", written


def write_formula(element: Any) -> str:
    """Return the text of an element of MathML or of an Office formula (OMML) in one line."""
    name, parts = _name_of(element), _list_parts(element)
    written = [write_formula(part) for part in parts]
    if name in _SIGNS and len(parts) > 1:
        return _join_signed(_SIGNS[name], written)
    if name in ("msqrt", "mroot", "rad"):
        return _write_root(name, written)
    if name in ("mfenced", "d"):
        opened, between, closed = _find_fences(element, name)
        return f"{opened}{between.join(written)}{closed}"
    if name in _ROWS:
        return _ROWS[name].join(written)
    if name == "nary":
        return f"{_read_setting(element, 'chr', '∫')}{_join_signed('_^', ['', *written[:-1]])} {written[-1]}" if written else ""
    if name in ("func", "acc"):
        return f"{''.join(written[:1])}{_read_setting(element, 'chr', ' ' if name == 'func' else '^')}{''.join(written[1:])}"
    return (element.text or "" if name != "math" else "") + "".join(written)


def _name_of(element: Any) -> str:
    """Return an element's local name, also where a prefix of XHTML was read as HTML; empty for a comment."""
    if not isinstance(element.tag, str):
        return ""
    return str(QName(element).localname).rpartition(":")[2]


def _list_parts(element: Any) -> list[Any]:
    """Return the children that a reader sees. Settings (`fPr`) and the properties of runs are none."""
    return [child for child in element if (name := _name_of(child)) and name not in _MACHINE_FORMS and not name.endswith("Pr")]


def _enclose(written: str) -> str:
    return written if _ONE_THING.fullmatch(written) else f"({written})"


def _join_signed(signs: str, parts: Sequence[str]) -> str:
    """Join the parts with a sign before each but the first. An accent over a letter needs none."""
    first, *others = parts
    signed = (
        f"{sign}{_enclose(part)}" if part.isalnum() or len(part) > 1 else part for sign, part in zip(signs, others, strict=False)
    )
    return f"{_enclose(first)}{''.join(signed)}"


def _write_root(name: str, parts: list[str]) -> str:
    """Write a root. MathML's has its degree last, Office's first, where it may be empty."""
    if name == "msqrt" or len(parts) < 2:
        return f"√{_enclose(''.join(parts))}"
    degree, base = (parts[1], parts[0]) if name == "mroot" else (parts[0], parts[1])
    return f"{degree}√{_enclose(base)}" if degree != "3" else f"∛{_enclose(base)}"


def _find_fences(element: Any, name: str) -> tuple[str, str, str]:
    if name == "mfenced":
        return element.get("open", "("), element.get("separators", ",")[:1], element.get("close", ")")
    return _read_setting(element, "begChr", "("), _read_setting(element, "sepChr", "|"), _read_setting(element, "endChr", ")")


def _read_setting(element: Any, name: str, usual: str) -> str:
    """Return a setting of an Office formula, such as the sign of a sum."""
    found = element.find(f"{{*}}{_name_of(element)}Pr/{{*}}{name}")
    return usual if found is None else next(iter(found.attrib.values()), "")
