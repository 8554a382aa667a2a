"""Honest paraphrases: other words or another order for the same, or a part of it."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from bench.claim_pairs.falsehoods import MakeClaim
from bench.claim_pairs.scene import Scene
from bench.claim_pairs.substitutions import substitute, tidy

_OPENING_TIME = re.compile(r"^((?:In|On|During|After|Before|By|Since) [^,]{4,40}), ([^;:]+)\.$")
_CLOSING_TIME = re.compile(r"^([^,;:]{20,}) ((?:in|on|during|since) (?:the )?(?:[A-Z]\w+ )?(?:\d{1,2},? )?\d{4})\.$")
_OPENING_TIME_ZH = re.compile(
    r"^(\d{4}年(?:\d{1,2}月(?:\d{1,2}日)?)?)，?([\u4e00-\u9fff]{2,6}(?:·[\u4e00-\u9fff]+)?)(?=在|于|被|成为|加入|获|出任|担任)(.+)$"
)
_PASSIVE = re.compile(r"^((?:The |A |An )?[^,;:]{3,60}?) (was|were) (\w+ed) by ((?:the )?[^,;:.]{3,50}?)( in \d{4})?\.$")
_PASSIVE_ZH = re.compile(r"^([^，。；]{2,20})由([^，。；]{2,12})(创立|创办|建造|设计|出版|发行|制作|编写|执导|主演)[。，]")
_BRACKETS = re.compile(r"\s*[(（][^()（）]*[)）]")
_RELATIVE = re.compile(r", (?:which|who|whose|where) [^,;.]+(?=[,.])")
_PARTICIPLE = re.compile(r", (?:\w+ing|including|such as|with) [^;.]+(?=\.)")
_LAST_CLAUSE_ZH = re.compile(r"^(.{10,}?[^，。；]{6,})，[^，。；]+。$")
_GROUPED = re.compile(r"(?<![\d,])(\d{1,3}),(\d{3})(?!\d|,\d)")
_PLAIN = re.compile(r"(?<![\d.,])([1-9]\d{0,2})(\d{3})(?=人|元|米|名|个)")
_WORDS = dict(enumerate(["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"], 2))
_SMALL = re.compile(r"(?<![\w.,–-])([2-9]|1[0-2])(?= [a-z]{3,})(?! (?:million|billion|percent|per|and))")
_WORDED = re.compile(rf"\b({'|'.join(_WORDS.values())})\b(?= [a-z]{{3,}})(?! (?:hundred|thousand|million|billion))")
_PERCENT = re.compile(r"(?<=\d)(?:%| percent| per cent)")
_PERCENT_ZH = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)%")
_DIGITS_ZH = re.compile(r"(?<![\d.第年月])([3-9])(?=[个名位次座家部种条])")
_MONTH_DAY = re.compile(r"\b([A-Z][a-z]{2,8}) (\d{1,2}), (\d{4})\b")
_PRONOUN = re.compile(r"^(?:He|She|It)(?= (?:was|is|has|had|became|also|\w+ed)\b)")
_PRONOUN_ZH = re.compile(r"^(?:他|她|它|该[剧片书校])(?=是|在|于|曾|被|的|还|也|\d)")
NumberRule = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]
_FULL_STOP = re.compile(r"[.。]$")
_COMMON_OPENING = re.compile(r"^(?:The|A|An|In|On|It|He|She|They|This|These|There|During|After|Many|Some|Most|His|Her|Its) ")


def reorder(scene: Scene) -> str | None:
    """Move the time of an event to the other end of the sentence."""
    if scene.chinese:
        found = _OPENING_TIME_ZH.match(scene.sentence)
        return f"{found.group(2)}{found.group(1)}{found.group(3)}" if found else None
    if found := _OPENING_TIME.match(scene.sentence):
        return tidy(f"{found.group(2)} {_lower_first(found.group(1))}.", scene.language)
    if found := _CLOSING_TIME.match(scene.sentence):
        return tidy(f"{found.group(2)}, {_lower_first(found.group(1))}.", scene.language)
    return None


def _lower_first(text: str) -> str:
    """Lower the first letter of what begins with a common word."""
    return text[0].lower() + text[1:] if _COMMON_OPENING.match(f"{text} ") else text


def turn_passive(scene: Scene) -> str | None:
    """Turn "A was done by B" into "B did A"."""
    if scene.chinese:
        found = _PASSIVE_ZH.match(scene.sentence)
        return f"{found.group(2)}{found.group(3)}了{found.group(1)}。" if found else None
    found = _PASSIVE.match(scene.sentence)
    if not found:
        return None
    thing, _, verb, doer, when = found.groups()
    return tidy(f"{doer} {verb} {_lower_first(thing)}{when or ''}.", scene.language)


def use_synonyms(scene: Scene) -> str | None:
    """Replace one to three words by others of the same meaning."""
    rules = scene.take_list("synonyms")
    text = substitute(scene.sentence, rules, scene.language, scene.draw)
    changed = [pattern for pattern, word in rules.items() if text and word in text]
    for _ in range(scene.draw.randint(0, 2)):
        left = {pattern: word for pattern, word in rules.items() if pattern not in changed and word not in changed}
        changed += [pattern for pattern, word in rules.items() if text and word in text]
        text = (substitute(text, left, scene.language, scene.draw) or text) if text and left else text
    return text


def drop_detail(scene: Scene) -> str | None:
    """Leave out what is in brackets, a relative clause, or the last clause."""
    forms = [_BRACKETS, _LAST_CLAUSE_ZH] if scene.chinese else [_BRACKETS, _RELATIVE, _PARTICIPLE]
    found = [form for form in forms if form.search(scene.sentence)]
    if not found:
        return None
    form = scene.draw.choice(found)
    text = form.sub(r"\1。" if form is _LAST_CLAUSE_ZH else "", scene.sentence, count=1)
    return tidy(text, scene.language) if len(text) > len(scene.sentence) / 3 else None


def rewrite_number(scene: Scene) -> str | None:
    """Write a number in another form."""
    rules = CHINESE_NUMBERS if scene.chinese else ENGLISH_NUMBERS
    texts = [text for form, new in rules if (text := form.sub(new, scene.sentence, count=1)) != scene.sentence]
    return scene.draw.choice(texts) if texts else None


def _to_words(match: re.Match[str]) -> str:
    return _WORDS[int(match.group(1))]


def _to_digits(match: re.Match[str]) -> str:
    return str(next(value for value, word in _WORDS.items() if word == match.group(1).lower()))


def _to_chinese(match: re.Match[str]) -> str:
    return "零一二三四五六七八九"[int(match.group(1))]


ENGLISH_NUMBERS: Sequence[NumberRule] = (
    (_GROUPED, r"\1\2"),
    (_SMALL, _to_words),
    (_WORDED, _to_digits),
    (_PERCENT, " per cent"),
    (_MONTH_DAY, r"\2 \1 \3"),
)
CHINESE_NUMBERS: Sequence[NumberRule] = (
    (_PERCENT_ZH, r"百分之\1"),
    (_DIGITS_ZH, _to_chinese),
    (_PLAIN, r"\1,\2"),
    (_GROUPED, r"\1\2"),
)


def join_sentences(scene: Scene) -> str | None:
    """Join the sentence and the next one."""
    if scene.at + 1 >= len(scene.text.sentences):
        return None
    following = scene.text.sentences[scene.at + 1]
    if scene.chinese:
        return _FULL_STOP.sub("，", scene.sentence) + following if len(scene.sentence + following) < 120 else None
    if len(scene.sentence + following) > 400 or not _FULL_STOP.search(scene.sentence):
        return None
    return f"{_FULL_STOP.sub('', scene.sentence)}, and {_lower_first(following)}"


def resolve_pronoun(scene: Scene) -> str | None:
    """Put the title for the pronoun at the beginning."""
    form = _PRONOUN_ZH if scene.chinese else _PRONOUN
    title = _BRACKETS.sub("", scene.text.title)
    return form.sub(lambda _: title, scene.sentence) if title and form.match(scene.sentence) and len(title) < 40 else None


def shorten(scene: Scene) -> str | None:
    """Use a short form of a name, a month or a unit, or the long form of a short one."""
    return scene.substitute("short")


def mix_changes(scene: Scene) -> str | None:
    """Make two changes, one after the other."""
    first = next((text for change in _draw_changes(scene) if (text := change(scene))), None)
    if first is None:
        return None
    sentences = (*scene.text.sentences[: scene.at], first, *scene.text.sentences[scene.at + 1 :])
    again = Scene(replace(scene.text, sentences=sentences), scene.at, scene.names, scene.draw)
    return next((claim for change in _draw_changes(again) if (claim := change(again)) and claim != scene.sentence), None)


def _draw_changes(scene: Scene) -> list[MakeClaim]:
    simple = [reorder, drop_detail, use_synonyms, rewrite_number, resolve_pronoun, shorten]
    return scene.draw.sample(simple, len(simple))


PARAPHRASES: Mapping[str, MakeClaim] = {
    "reordered": reorder,
    "voice": turn_passive,
    "synonyms": use_synonyms,
    "dropped_detail": drop_detail,
    "number_format": rewrite_number,
    "joined": join_sentences,
    "pronoun": resolve_pronoun,
    "abbreviation": shorten,
    "mixed": mix_changes,
}
