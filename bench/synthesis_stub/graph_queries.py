"""A model for graph queries that answers by extraction from its prompt, in English and Chinese, and may break rules by name.

It knows its prompts by their parts. `planted` has every text in which it broke a rule.
"""

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import NamedTuple

VIOLATIONS = (
    "names_answer",
    "names_intermediate",
    "names_part",
    "drops_condition",
    "keeps_strong_clue",
    "wrong_year",
    "unsupported_link",
    "other_language",
    "known_answer",
    "request_names_answer",
)
LINK_WORDS, LINK_CHARS = 24, 60
NONSENSE = {"en": "quarrelled over marmalade", "zh": "曾争吃橘酱"}
CATEGORIES = {"person": "人物", "place": "地点", "organisation": "机构", "work": "作品", "event": "事件", "species": "物种"}
TOPICS = {
    "media_entertainment": ("film", "album", "band", "song", "actor", "actress", "电影", "歌", "节目", "演员"),
    "arts": ("painter", "poet", "novel", "composer", "画", "诗", "小说"),
    "science_technology": ("element", "physic", "mathemat", "species", "genus", "环形山", "撞击坑", "物种"),
    "law_regulation": ("law", "treaty", "court", "法"),
    "education": ("university", "school", "college", "大学", "学校"),
}
_PART = re.compile(r"<(names|conditions|hidden|fault|question|attempt|hops|answer)>\n(.*?)\n</\1>", re.DOTALL)
_YEAR = re.compile(r"\b\d{4}s?\b|\d{4}(?=年)")
_HOP = re.compile(r"^(h\d+) \| (.*) -> (.*) \| ", re.MULTILINE)


class ShownCondition(NamedTuple):
    """A line of the conditions."""

    id: str
    about: str
    kind: str
    value: str
    sentence: str
    phrase: str = ""


def read_parts(prompt: str) -> dict[str, str]:
    """Return the parts of a prompt by their tags."""
    return dict(_PART.findall(prompt))


class GraphQueryStub:
    """Answers prompts about graph queries. `plant` names the rule that it breaks wherever it can."""

    def __init__(self, plant: str = "") -> None:
        self.plant = plant
        self.planted: set[str] = set()
        self._answers: dict[str, str] = {}

    def recall(self, question: str) -> str:
        """Answer a question without a search."""
        return self._answers.get(question, "") if self.plant == "known_answer" else ""

    def share_answers(self, other: "GraphQueryStub") -> None:
        """Know the answers to what another stub asks."""
        self._answers = other._answers

    def answer(self, prompt: str) -> str | None:
        """Return the answer to a conversation's text as JSON; None for one that is not about graph queries."""
        parts = read_parts(prompt)
        if "names" in parts:
            return _write(self._word(parts))
        if "attempt" in parts:
            return _write({"answer": self._guess(parts["question"])})
        if "conditions" in parts:
            return _write(judge_conditions(read_conditions(parts["conditions"])))
        if "hops" in parts:
            return _write(judge_hops(parts["hops"]))
        if "hidden" in parts:
            return _write(self._request(parts))
        if "answer" in parts:
            return _write({"reason": "each part is needed", "score": 4})
        return None

    def _word(self, parts: Mapping[str, str]) -> object:
        conditions, hidden = read_conditions(parts["conditions"]), parts["hidden"].splitlines()
        names = dict(line.split(" = ", 1) for line in parts["names"].splitlines())
        language = "zh" if re.search("[\u4e00-\u9fff]", conditions[-1].sentence) else "en"
        phrases = {c.id: say_condition(c, [*hidden, *names.values()], language) for c in conditions}
        if self.plant == "wrong_year":
            phrases = {c.id: _shift_years(phrases[c.id], c) for c in conditions}
        if self.plant == "unsupported_link":
            phrases = {c.id: NONSENSE[language] if c.kind == "linked" else phrases[c.id] for c in conditions}
        said = [c for c in conditions if self.plant != "drops_condition" or c.id != conditions[-1].id]
        question = compose(said, phrases, language)
        broken = self._break(question, parts, names, hidden, language)
        unlike = {c.id: say_condition(c, [*hidden, *names.values()], language) for c in conditions} != phrases
        if broken != question or unlike or len(said) < len(conditions):
            self.planted.add(broken)
        self._answers[broken] = names["answer"]
        return {"question": broken, "phrases": [{"condition": key, "phrase": phrase} for key, phrase in phrases.items()]}

    def _break(
        self, question: str, parts: Mapping[str, str], names: Mapping[str, str], hidden: Sequence[str], language: str
    ) -> str:
        """Return the question with the planted text, where there is something to plant."""
        between = [name for variable, name in names.items() if variable != "answer" and name in hidden]
        before = parts.get("question", "")
        dropped = [name for name in between if name in before][:1]
        last_word = names["answer"].split()[-1] if language == "en" else names["answer"].split("·")[-1]
        added = {
            "names_answer": names["answer"],
            "names_intermediate": between[0] if between else "",
            "names_part": last_word if last_word in hidden and last_word != names["answer"] else "",
            "keeps_strong_clue": " ".join([*sorted(_list_years(before) - _list_years(question)), *dropped]),
        }.get(self.plant, "")
        if self.plant == "other_language":
            return "哪一件事情符合以上所说的全部条件？" if language == "en" else "Which of all things is the one that is meant?"
        return f"{question} ({added})" if added else question

    def _guess(self, question: str) -> str:
        if self.plant != "known_answer":
            return ""
        self.planted.add(question)
        return self.recall(question)

    def _request(self, parts: Mapping[str, str]) -> object:
        question = parts["question"]
        is_chinese = bool(re.search("[\u4e00-\u9fff]", question))
        opening = (
            "请做一项研究，查明所指并说明其来龙去脉与各部分的联系："
            if is_chinese
            else "Please study the following and explain how its parts hang together, with sources: "
        )
        request = opening + question
        if self.plant == "request_names_answer":
            request += f" ({parts['hidden'].splitlines()[-1]})"
            self.planted.add(request)
        return {
            "request": request,
            "topic": next((t for t, words in TOPICS.items() if any(w in question for w in words)), "other"),
        }


def read_conditions(text: str) -> list[ShownCondition]:
    """Read the lines of the conditions."""
    return [ShownCondition(*[*line.split(" | "), ""][:6]) for line in text.splitlines()]


def say_condition(condition: ShownCondition, hidden: Sequence[str], language: str) -> str:
    """Return words that say a condition."""
    if condition.kind == "linked":
        return say_link(condition.sentence, hidden, language)
    if condition.kind == "category":
        return CATEGORIES[condition.value] if language == "zh" else condition.value
    bounds = re.fullmatch(r"(\d+)-(\d+)(.*)", condition.value)
    if bounds is None:
        return condition.value + ("年" if condition.kind == "year" and language == "zh" else "")
    low, high, unit = bounds.groups()
    return (
        f"{low}年至{high}年"
        if language == "zh" and not unit
        else f"{low}至{high}{unit}"
        if language == "zh"
        else f"between {low} and {high}{unit}"
    )


def say_link(sentence: str, hidden: Sequence[str], language: str) -> str:
    """Return the words of a sentence without the hidden names and without years."""
    text = _YEAR.sub(" ", remove_names(sentence, hidden))
    if language == "en":
        return " ".join(re.findall(r"[^\W\d_][\w'’-]*", text)[:LINK_WORDS])
    pieces = re.findall(r"[\w·]+", text)
    said = "、".join(piece for piece in pieces if len(piece) > 1)
    return said[:LINK_CHARS].rstrip("、")


def remove_names(text: str, names: Sequence[str]) -> str:
    """Return a text without names, whatever their case and accents."""
    for name in sorted(map(_fold, names), key=len, reverse=True):
        folded, at = _fold(text), 0
        while name and (at := folded.find(name, at)) >= 0:
            text, folded = (f"{whole[:at]}{' ' * len(name)}{whole[at + len(name) :]}" for whole in (text, folded))
    return text


def _fold(text: str) -> str:
    return "".join((unicodedata.normalize("NFKD", char)[0].lower() or char)[0] for char in text)


def compose(conditions: Sequence[ShownCondition], phrases: Mapping[str, str], language: str) -> str:
    """Return one question that says all conditions, from the starts to the answer."""
    order = dict.fromkeys([*sorted(c.about for c in conditions if c.about != "answer"), "answer"])
    own = {about: [phrases[c.id] for c in conditions if c.about == about and c.kind != "linked"] for about in order}
    links = {about: [phrases[c.id] for c in conditions if c.about == about and c.kind == "linked"] for about in order}
    if language == "zh":
        steps = [f"{'，'.join(links[a])}的{'、'.join(own[a]) or '那个'}" if links[a] else "、".join(own[a]) for a in order]
        return f"从{'，再到'.join(steps[:-1])}，最后是{steps[-1]}，问的是哪一个？"
    steps = [f"{', '.join(own[a]) or 'one'} ({'; '.join(links[a])})" if links[a] else ", ".join(own[a]) for a in order]
    return f"Which is the one that {', then '.join(steps[:-1])} lead to: {steps[-1]}?"


def _list_years(text: str) -> set[str]:
    return set(_YEAR.findall(text))


def _shift_years(phrase: str, condition: ShownCondition) -> str:
    if condition.kind != "year":
        return phrase
    return re.sub(r"\d{4}", lambda year: str(int(year.group()) - 300), phrase)


def judge_conditions(conditions: Sequence[ShownCondition]) -> object:
    """Say yes to each condition whose words stand in its sentence, or that is no link."""
    verdicts = [{"id": c.id, "verdict": "no" if c.kind == "linked" and not _share_words(c) else "yes"} for c in conditions]
    return {"verdicts": verdicts, "contradictory": "no"}


def _share_words(condition: ShownCondition) -> bool:
    sentence = _fold(condition.sentence)
    return any(word in sentence for word in re.findall(r"\w{2,}", _fold(condition.phrase)))


def judge_hops(text: str) -> object:
    """Say yes to each hop."""
    return {"verdicts": [{"id": name, "verdict": "yes"} for name, _, _ in _HOP.findall(text)]}


def _write(answer: object) -> str:
    return json.dumps(answer, ensure_ascii=False)
