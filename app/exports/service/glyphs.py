"""Characters that no font of the PDF has: they are replaced by words that say what stood there, instead of boxes.

Which characters those are is found out by the typesetter itself, for those alone that are not plainly covered.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable
from typing import Any

CAN = Callable[[str], bool]
"""Says whether the fonts have all characters of a text."""
_COVERED = re.compile(
    "[\u0000-\u052f\u1e00-\u1fff\u2000-\u206f\u20a0-\u20bf\u2100-\u22ff\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef]+"
)
"""Latin, Greek, Cyrillic, punctuation, currencies, mathematics, Chinese, Japanese and Korean."""
_JOINING = "\ufe0e\ufe0f\u200d\U0001f3fb-\U0001f3ff"
_FLAG = "REGIONAL INDICATOR SYMBOL LETTER "
SHOWN_SIGNS = 4
UNTOUCHED = frozenset({"t", "url", "language", "id", "align"})
WORDS = {
    "en": (
        "[{script} text, {n} characters]",
        "This PDF has no letters for {scripts}. Words in brackets say what stood there; the page and the Word file have it.",
    ),
    "zh": (
        "[{script} 文字，{n} 个字符]",
        "此 PDF 没有以下文字的字形：{scripts}。方括号中的说明代表原处的内容；网页和 Word 文件中有完整的原文。",
    ),
}


def replace_missing(document: dict[str, Any], can_show: CAN) -> dict[str, Any]:
    """Return a document, as JSON has it, in which every character can be shown; a notice at its top names the other scripts."""
    missing = find_missing(_join_texts(document), can_show)
    if not missing:
        return document
    words = WORDS["zh" if document["language"] == "zh" else "en"]
    replaced: dict[str, Any] = _replace_in(document, _make_pattern(missing), words[0])
    scripts = sorted({_script_of(character) for character in missing if not _is_sign(character)})
    if scripts:
        notice = {"t": "notice", "text": words[1].format(scripts=", ".join(scripts))}
        replaced["blocks"] = [notice, *replaced["blocks"]]
    return replaced


def find_missing(text: str, can_show: CAN) -> set[str]:
    """Return the characters of a text that cannot be shown; of a script that is mostly missing, all of them."""
    groups: dict[str, set[str]] = defaultdict(set)
    for character in set(_COVERED.sub("", text)):
        if unicodedata.category(character)[0] not in "CZ":
            groups[character if _is_sign(character) else _script_of(character)].add(character)
    if not groups or can_show("".join(sorted(set().union(*groups.values())))):
        return set()
    missing: set[str] = set()
    for group in groups.values():
        if not can_show("".join(sorted(group))):
            without = {character for character in group if not can_show(character)}
            missing |= group if 2 * len(without) > len(group) else without
    return missing


def _is_sign(character: str) -> bool:
    return unicodedata.category(character)[0] not in "LMN"


def _script_of(character: str) -> str:
    """Return the name of a character's script: in Unicode's names it is the first word."""
    return unicodedata.name(character, "unknown").partition(" ")[0].capitalize()


def _make_pattern(missing: set[str]) -> re.Pattern[str]:
    """Return what finds runs of missing characters: words of one script with the blanks between them, and signs in a row."""
    scripts: dict[str, set[str]] = defaultdict(set)
    for character in missing:
        scripts["" if _is_sign(character) else _script_of(character)].add(character)
    runs = []
    for script, characters in scripts.items():
        one = f"[{re.escape(''.join(sorted(characters)))}]"
        runs.append(
            f"{one}[{re.escape(''.join(sorted(characters)))}{_JOINING}]*"
            if not script
            else rf"{one}+(?:[\s\u200b-\u200d]+{one}+)*"
        )
    return re.compile("|".join(runs))


def _replace_in(value: Any, pattern: re.Pattern[str], form: str) -> Any:
    if isinstance(value, str):
        return pattern.sub(lambda found: _describe(found[0], form), value)
    if isinstance(value, list):
        return [_replace_in(each, pattern, form) for each in value]
    if isinstance(value, dict):
        return {name: each if name in UNTOUCHED else _replace_in(each, pattern, form) for name, each in value.items()}
    return value


def _describe(run: str, form: str) -> str:
    """Say what stood there: the names of signs, or the script and the length of words."""
    if not _is_sign(run[0]):
        return form.format(script=_script_of(run[0]), n=len(run))
    names = [unicodedata.name(sign, f"U+{ord(sign):04X}") for sign in run if not re.match(f"[{_JOINING}]", sign)]
    flag = "".join(name.removeprefix(_FLAG) for name in names if name.startswith(_FLAG))
    told = [f"flag {flag}"] if flag else [name.lower() for name in names]
    more = [f"{len(told) - SHOWN_SIGNS} more"] if len(told) > SHOWN_SIGNS else []
    return f"[{', '.join(told[:SHOWN_SIGNS] + more)}]"


def _join_texts(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(map(_join_texts, value))
    if isinstance(value, dict):
        return "".join(_join_texts(each) for name, each in value.items() if name not in UNTOUCHED)
    return ""
