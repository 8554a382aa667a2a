"""Falsehoods: what a careless or lying writer makes of a sentence. Each kind is one small change that turns its truth."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias

from app.domain.dates import MONTHS
from bench.claim_pairs.scene import Scene
from bench.claim_pairs.substitutions import choose_other, substitute, tidy
from training.synthesis.graph_queries.typed_names import ORGANISATION, PERSON, PLACE, find_typed_names

MakeClaim: TypeAlias = Callable[[Scene], str | None]

_NUMBER = re.compile(
    r"(?<![\d.,/–-])(\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)(?![\d/–-]|,\d|\.\d|st\b|nd\b|rd\b|th\b|s\b|年|月|日|世纪)"
)
_YEAR = re.compile(r"(?<!\d)(1[0-9]\d\d|20\d\d)(?=年|\b)(?!s|,\d)")
_MONTH = re.compile(rf"\b(?:{'|'.join(MONTHS)})\b")
_MONTH_ZH = re.compile(r"(?<=年)(1[0-2]|[1-9])(?=月)")
_WORDED = {
    word: place
    for place, word in enumerate(["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"], 2)
}
_WORDED_FORM = re.compile(rf"\b({'|'.join(_WORDED)})\b", re.IGNORECASE)
_WORDED_ZH = re.compile(r"(?<![一二三四五六七八九十第])[二三四五六七八九两](?=[个名位次座家部年人种条层])")
_ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
_ORDINAL = re.compile(rf"\b(?:{'|'.join(_ORDINALS)}|\d{{1,3}}(?:st|nd|rd|th))\b", re.IGNORECASE)
_ORDINAL_ZH = re.compile(r"第([一二三四五六七八九十]{1,2}|\d{1,2})")
_SUBJECT = re.compile(
    r"^((?:The |A |An )?[A-Z][\w'’-]*(?: (?:of |the |de |and )?[A-Z][\w'’-]*)*|(?:The|A|An) [a-z]+)"
    r"(?= (?:is|was|are|were|has|had|will|can)\b)"
)
_STANDS_IN = re.compile(
    r"(?:The|A|An|It|He|She|They|This|These|There|His|Her|Its|Their|That|Those|We|I|You|Who|Which|One)\b(?! [A-Z])"
    r"|[他她它其该此这那本在于当從从直后後自]|\d"
)
_SUBJECT_ZH = re.compile(r"^([\u4e00-\u9fff·A-Za-z]{2,10}?)(?=是|为|位于|于\d|在\d)")
_NO_SUBJECT = re.compile(r"[也都其就还還它他她该該的因但而并並后後]")
_CHINESE_DIGITS = "一二三四五六七八九"


def swap_name(kind: str, scene: Scene) -> str | None:
    """Put another name of this kind into the sentence."""
    found = [name for name in find_typed_names(scene.sentence, scene.language) if name.kind == kind]
    if not found:
        return None
    name = scene.draw.choice(found)
    known = scene.text.title + " ".join(scene.text.sentences)
    other = choose_other(scene.names.get((scene.language, kind), ()), known, scene.draw)
    return scene.sentence[: name.start] + other + scene.sentence[name.end :] if other else None


def exchange_names(scene: Scene) -> str | None:
    """Let two names of one kind change places."""
    found = find_typed_names(scene.sentence, scene.language)
    pairs = [
        (one, two) for one in found for two in found if one.kind == two.kind and one.end < two.start and one.text != two.text
    ]
    pairs = [pair for pair in pairs if not _is_list(scene.sentence[pair[0].end : pair[1].start])]
    if not pairs:
        return None
    one, two = scene.draw.choice(pairs)
    text = scene.sentence
    return text[: one.start] + two.text + text[one.end : two.start] + one.text + text[two.end :]


def _is_list(between: str) -> bool:
    """Whether what stands between two names only lists: then their order says nothing."""
    return "、" in between or (
        not re.search(r"\b(?!and\b|or\b|of\b|the\b)[a-z]{2,}", between) and not re.search(r"[\u4e00-\u9fff]{2}", between)
    )


def misattribute_quote(scene: Scene) -> str | None:
    """Quote the sentence word for word as what somebody of another text said."""
    known = scene.text.title + " ".join(scene.text.sentences)
    other = choose_other(scene.names.get((scene.language, PERSON), ()), known, scene.draw)
    if other is None:
        return None
    return f"{other}说：“{scene.sentence}”" if scene.chinese else f"{other} said: “{scene.sentence}”"


def swap_number(scene: Scene) -> str | None:
    """Change a number, in digits or in words."""
    forms = [_NUMBER, _WORDED_ZH if scene.chinese else _WORDED_FORM]
    found = [match for form in forms for match in form.finditer(scene.sentence) if not _YEAR.fullmatch(match.group())]
    if not found:
        return None
    match = scene.draw.choice(found)
    return scene.sentence[: match.start()] + _other_number(match.group(), scene) + scene.sentence[match.end() :]


def _other_number(number: str, scene: Scene) -> str:
    if number.lower() in _WORDED:
        return scene.draw.choice([word for word in _WORDED if word != number.lower()])
    if number in "二三四五六七八九两":
        return scene.draw.choice([digit for digit in "三四五六七八九" if digit != number])
    digits = [place for place, char in enumerate(number) if char.isdigit()]
    place = digits[0] if len(digits) > 1 else digits[-1]
    fresh = scene.draw.choice([digit for digit in "123456789" if digit != number[place]])
    return number[:place] + fresh + number[place + 1 :]


def change_year(scene: Scene) -> str | None:
    """Move a year by 1 to 30 years."""
    found = list(_YEAR.finditer(scene.sentence))
    if not found:
        return None
    match = scene.draw.choice(found)
    years = {int(year.group()) for sentence in scene.text.sentences for year in _YEAR.finditer(sentence)}
    other = scene.draw.choice([year for year in range(int(match.group()) - 30, int(match.group()) + 30) if year not in years])
    return scene.sentence[: match.start()] + str(other) + scene.sentence[match.end() :]


def change_month(scene: Scene) -> str | None:
    """Put another month."""
    found = list((_MONTH_ZH if scene.chinese else _MONTH).finditer(scene.sentence))
    if not found:
        return None
    match = scene.draw.choice(found)
    months = [str(month) for month in range(1, 13)] if scene.chinese else list(MONTHS)
    other = scene.draw.choice([month for month in months if month != match.group()])
    return scene.sentence[: match.start()] + other + scene.sentence[match.end() :]


def change_ordinal(scene: Scene) -> str | None:
    """Put another ordinal."""
    found = list((_ORDINAL_ZH if scene.chinese else _ORDINAL).finditer(scene.sentence))
    if not found:
        return None
    match = scene.draw.choice(found)
    return scene.sentence[: match.start()] + _other_ordinal(match.group(), scene) + scene.sentence[match.end() :]


def _other_ordinal(ordinal: str, scene: Scene) -> str:
    if scene.chinese:
        return "第" + scene.draw.choice([digit for digit in _CHINESE_DIGITS if digit not in ordinal])
    if ordinal[0].isdigit():
        number = int(ordinal[:-2]) + scene.draw.randint(1, 5)
        ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10 if number % 100 not in (11, 12, 13) else 0, "th")
        return f"{number}{ending}"
    return scene.draw.choice([word for word in _ORDINALS if word != ordinal.lower()])


def turn_round(relation: str, scene: Scene) -> str | None:
    """Let what stands before and after a relation's words change places, as far as the next comma."""
    phrases = [re.escape(phrase) for phrase in scene.take_list("turned", relation)]
    bounds = "，。；、" if scene.chinese else r",;()"
    body, blank = rf"([^{bounds}]+?)", "" if scene.chinese else " "
    form = re.compile(rf"(?:^|(?<=[{bounds}]))\s*{body}{blank}({'|'.join(phrases)}){blank}([^{bounds}.]+)")
    match = form.search(scene.sentence)
    if not match or len(match.group(1)) < 3 or len(match.group(3)) < 3:
        return None
    one, words, two = match.groups()
    lower = one if scene.chinese or re.match(r"[A-Z]\w*[A-Z ]|I\b", one) else one[0].lower() + one[1:]
    turned = f"{scene.sentence[: match.start(1)]}{two.strip()}{blank}{words}{blank}{lower}{scene.sentence[match.end(3) :]}"
    return tidy(turned, scene.language)


def swap_subject(scene: Scene) -> str | None:
    """Let another sentence's subject do what this one says."""
    form = _SUBJECT_ZH if scene.chinese else _SUBJECT
    own = form.match(scene.sentence)
    if own is None or not _is_subject(own.group(1)):
        return None
    others = [match.group(1) for sentence in scene.text.sentences if (match := form.match(sentence))]
    others = [subject for subject in others if _is_subject(subject) and not _share_words(subject, own.group(1))]
    other = choose_other(others, scene.sentence, scene.draw)
    return other + scene.sentence[own.end() :] if other else None


def _is_subject(words: str) -> bool:
    """Whether the words name something: no pronoun, nothing that only joins sentences."""
    return not _STANDS_IN.match(words) and not _NO_SUBJECT.search(words)


def _share_words(one: str, other: str) -> bool:
    """Whether two subjects may be one: they share a word of four letters, or two ideographs."""
    pieces = [*re.findall(r"[A-Za-z]{4,}", one), *(one[i : i + 2] for i in range(len(one) - 1) if not one[i].isascii())]
    return any(piece in other for piece in pieces)


def add_detail(scene: Scene) -> str | None:
    """Join a false detail to the sentence."""
    end = "。" if scene.chinese else "."
    if not scene.sentence.endswith(end):
        return None
    return scene.sentence[:-1] + scene.draw.choice(load_details(scene)) + end


def load_details(scene: Scene) -> list[str]:
    """Return the false details in the language of the text."""
    return list(scene.take_list("details"))


def _make_substitution(kind: str, scene: Scene) -> str | None:
    return substitute(scene.sentence, scene.take_list("falsehoods", kind), scene.language, scene.draw)


_BY_LIST = (
    "some_to_all",
    "most_to_few",
    "removed_hedge",
    "added_certainty",
    "negation_added",
    "negation_removed",
    "direction_turned",
    "only",
    "scope_widened",
    "before_after",
    "superlative",
    "changed_unit",
)
_BY_FORM: Mapping[str, MakeClaim] = {
    "swapped_person": partial(swap_name, PERSON),
    "swapped_place": partial(swap_name, PLACE),
    "swapped_organisation": partial(swap_name, ORGANISATION),
    "exchanged_names": exchange_names,
    "misattributed_quote": misattribute_quote,
    "swapped_number": swap_number,
    "changed_year": change_year,
    "changed_month": change_month,
    "changed_ordinal": change_ordinal,
    "cause_reversed": partial(turn_round, "cause"),
    "comparison_reversed": partial(turn_round, "comparison"),
    "subject_swapped": swap_subject,
    "false_detail": add_detail,
}
FALSEHOODS: Mapping[str, MakeClaim] = {**_BY_FORM, **{kind: partial(_make_substitution, kind) for kind in _BY_LIST}}
