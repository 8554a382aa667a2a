"""Powers and formulas of a page in one line, so that their numbers keep their meaning: 10<sup>6</sup> is 10^6, not 106."""

import re

from lxml.html import HtmlElement

_POWER = re.compile(r"[+\-−]?\d+")
_SIGNS = {"msup": ("", "^"), "msub": ("", "_"), "msubsup": ("", "_", "^"), "mfrac": ("", "/"), "msqrt": ("√",)}
"""What stands before each child of an element of MathML."""


def write_powers(page: HtmlElement) -> None:
    """Put "^" before each superscript number that follows a digit. After letters and stops it may be the mark of a note."""
    for element in page.iter("sup"):
        if _text_before(element).rstrip()[-1:].isdigit() and _POWER.fullmatch(str(element.text_content()).strip()):
            element.text = f"^{element.text or ''}"


def _text_before(element: HtmlElement) -> str:
    previous, parent = element.getprevious(), element.getparent()
    if previous is not None:
        return previous.tail or str(previous.text_content())
    return (parent.text or "") if parent is not None else ""


def write_formulas(page: HtmlElement) -> None:
    """Replace each formula in MathML by its visible text with signs. What it says only to machines (TeX) is left out."""
    for formula in list(page.iter("math")):
        for element in list(formula.iter("annotation", "annotation-xml")):
            element.drop_tree()
        for element in formula.iter(*_SIGNS):
            for sign, child in zip(_SIGNS[element.tag], element, strict=False):
                _put_sign(sign, child)
        written = " ".join(str(formula.text_content()).split())
        formula.clear(keep_tail=True)
        formula.tag, formula.text = "span", written


def _put_sign(sign: str, child: HtmlElement) -> None:
    """Put a sign before a part of a formula, and brackets around it if it has several parts."""
    several = len(child) > 1
    child.text = f"{sign}{'(' if several else ''}{child.text or ''}"
    if several:
        child[-1].tail = f"{child[-1].tail or ''})"
