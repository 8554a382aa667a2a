"""A report on a subject on which much is said: an overview with one statement a part, then a section a part, in order of time."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.domain.evidence import Quote
from app.domain.query import Language
from app.domain.report import Section
from workflows.agents.extractive.attribution import Narrator, credit, escaped, quoted
from workflows.agents.extractive.headings import borne_out, period_of
from workflows.agents.extractive.kinds import QuestionKind
from workflows.agents.extractive.material import Item, Material
from workflows.agents.extractive.novelty import select
from workflows.agents.extractive.phrasing import phrases_in
from workflows.agents.extractive.prose import model_prose
from workflows.agents.extractive.question import Question
from workflows.agents.extractive.relevance import Lens
from workflows.agents.extractive.sentences import Sentence, sentence_of
from workflows.agents.extractive.telling import contrasting
from workflows.agents.extractive.words import terms, word_count

DATED = 0.7
WEAK = 0.5
LEAD_WORDS = 44
LEAD_FROM = 5
PER_SOURCE = 3
AIMED_AT = 30
ALONE = 2
"""Sections whose room a part has that is the only one."""
LEAST_STATEMENTS = 2
MOST_STATEMENTS = 6
RANK_FADE = 0.04
ALL_BUT, ON_QUESTION, FEWEST = 0.95, 0.5, 12
ANSWERS = 4


def survey(question: Question, material: Material, section_words: int, scale: float = 1.0) -> list[Section]:
    """The sections of the report; the first is the overview. `scale`: how many statements they have against the usual number."""
    material = on_question(question, material)
    order = _order(question, material)
    leads = _leads(question, material, order)
    used: list[Sentence] = [item.sentence for item in leads.values()]
    sections: list[Section] = []
    named = question.sides or question.kind is QuestionKind.COMPARE
    titles = {part: material.titles[part] if named else period_of(material.titles[part], question.language) for part in order}
    section_words = round(section_words * min(1.0, scale))
    room = ALONE if len(order) == 1 else 1
    for part in order:
        chosen = _chosen(material.of_part(part), used, section_words * room, round(MOST_STATEMENTS * room * scale))
        prose = model_prose(material.findings[part])
        if len(chosen) >= LEAST_STATEMENTS or prose:
            used.extend(chosen)
            shown = [*chosen, leads[part].sentence] if part in leads else chosen
            titles[part] = material.titles[part] if prose else borne_out(material.titles[part], shown, question.language)
            body = "\n\n".join([*prose, *paragraphs(question.language, chosen)])
            sections.append(Section(heading=titles[part], body=body))
    dated = _are_dated([item.sentence.quote for item in material.items])
    overview = _overview(question.language, titles, leads, used) if dated else _answer(question, material, list(leads.values()))
    return [overview, *sections]


def told_alone(question: Question, material: Material, section_words: int, scale: float = 1.0) -> str:
    """The statements of a material of one part, in paragraphs without an overview: for one question of several."""
    material = on_question(question, material)
    chosen = _chosen(material.of_part(0), [], ALONE * section_words, round(ALONE * MOST_STATEMENTS * scale))
    return "\n\n".join([*model_prose(material.findings[0]), *paragraphs(question.language, chosen)])


def on_question(question: Question, material: Material) -> Material:
    """The material without statements that hold of the question only what all of them hold; the best few, where few hold more.

    Among statements on the Roman Empire those go that do not speak of its fall.
    """
    sentences = [item.sentence.term_set for item in material.items]
    lens = Lens(question, weights=contrasting(question.telling_weights, sentences, ALL_BUT))
    kept = [item for item in material.items if lens.share(item.sentence, True) >= ON_QUESTION]
    if len(kept) < FEWEST:
        kept = sorted(material.items, key=lambda item: (-lens.score(item.sentence, True), item.part, item.rank))[:FEWEST]
    return replace(material, items=tuple(kept))


def _order(question: Question, material: Material) -> list[int]:
    """The parts to write, in the plan's order where it is one of time or of sides, else the strongest first; weak ones are left
    out."""
    parts = [part for part in range(len(material.titles)) if material.of_part(part) or model_prose(material.findings[part])]
    if (
        question.kind in (QuestionKind.CHANGE, QuestionKind.COMPARE)
        or question.sides
        or any(f.usage.model_calls for f in material.findings)
    ):
        return parts
    strength = {part: _strength(question, material.findings[part].quotes) for part in parts}
    kept = [part for part in parts if strength[part] >= WEAK * max(strength.values()) and (part == 0 or _fills(material, part))]
    return sorted(kept or parts, key=lambda part: (-strength[part] if part else float("-inf"), part))


def _fills(material: Material, part: int) -> bool:
    """Whether a part has enough of its own for a line in the overview and a section."""
    return len(material.of_part(part)) > LEAST_STATEMENTS


def _strength(question: Question, quotes: Sequence[Quote]) -> float:
    """The mean score of a part's best statements for the question itself."""
    lens = Lens(question)
    best = sorted((lens.score(sentence_of(quote)) for quote in quotes), reverse=True)[:LEAD_FROM]
    return sum(best) / len(best) if best else 0.0


def _leads(question: Question, material: Material, parts: Sequence[int]) -> dict[int, Item]:
    """For each part the short statement near its top that serves the question best; the best of all in the first part, and where
    none is short."""
    lens = _lens(question, material)

    def best(items: Sequence[Item]) -> Item:
        return max(items, key=lambda item: (lens.score(item.sentence), -item.rank))

    tops = {part: _of_title(material, part)[:LEAD_FROM] for part in parts}
    short = {part: [item for item in top if word_count(item.sentence.text) <= LEAD_WORDS] for part, top in tops.items()}
    return {part: best(short[part] or top) for part, top in tops.items() if top}


def _of_title(material: Material, part: int) -> list[Item]:
    """The items of a part, those that hold a word of its title where some do: what it leads with shows what it is about."""
    items, titled = material.of_part(part), frozenset(terms(material.titles[part]))
    return [item for item in items if not titled.isdisjoint(item.sentence.term_set)] or items


def _chosen(items: Sequence[Item], used: Sequence[Sentence], words: int, most: int) -> list[Sentence]:
    """The statements of a section: relevant, new, not too many of one source, within its length."""
    counts = Counter(sentence.source.url for sentence in used)
    share = max(PER_SOURCE, -(-AIMED_AT // len({item.sentence.source.url for item in items} or {""})))
    budget = _Budget(words)

    def allows(sentence: Sentence, chosen: list[Sentence]) -> bool:
        own = sum(other.source.url == sentence.source.url for other in chosen)
        return counts[sentence.source.url] + own < share and budget.takes(sentence)

    candidates = [(1 / (1 + RANK_FADE * item.rank), item.sentence) for item in items]
    return select(candidates, most, used, allows)


class _Budget:
    """Words left in a section."""

    def __init__(self, words: int) -> None:
        self._left = words

    def takes(self, sentence: Sentence) -> bool:
        """Whether a sentence still fits; if so, it is counted."""
        if self._left <= 0:
            return False
        self._left -= word_count(sentence.text)
        return True


def in_order(sentences: Sequence[Sentence]) -> list[Sentence]:
    """By date where most have one, and by place within a source; else sources in the order of their best statement."""
    dated = sum(s.source.published is not None for s in sentences)
    first = {url: place for place, url in reversed(list(enumerate(s.source.url for s in sentences)))}
    if dated >= DATED * len(sentences):
        return sorted(sentences, key=lambda s: (str(s.source.published or "9999"), s.source.url, s.start))
    return sorted(sentences, key=lambda s: (first[s.source.url], s.start))


def paragraphs(language: Language, chosen: Sequence[Sentence]) -> list[str]:
    """One paragraph an author (a source, where none is named), each statement introduced."""
    narrator = Narrator(language)
    paragraphs: list[str] = []
    last = ""
    for sentence in in_order(chosen):
        told = narrator.introduce(sentence.quote) + quoted(sentence.quote)
        speaker = sentence.source.author or sentence.source.url
        if speaker == last:
            paragraphs[-1] += f" {told}"
        else:
            paragraphs.append(told)
        last = speaker
    return paragraphs


def _answer(question: Question, material: Material, leads: Sequence[Item]) -> Section:
    """Where sources have no dates: what the parts lead with, the best answer first, without a word on where and when."""
    lens = _lens(question, material)
    scored = sorted(((lens.score(item.sentence), item) for item in leads), key=lambda pair: (-pair[0], pair[1].part))
    best = [item for score, item in scored if score >= WEAK * scored[0][0]][:ANSWERS]
    told = (f"{credit(item.sentence.quote, question.language)}{quoted(item.sentence.quote)}" for item in best)
    return Section(heading=phrases_in(question.language).lead, body="\n\n".join(told))


def _lens(question: Question, material: Material) -> Lens:
    """The question, with less weight on what all of the statements hold."""
    return Lens(question, weights=contrasting(question.telling_weights, [item.sentence.term_set for item in material.items]))


def _are_dated(quotes: Sequence[Quote]) -> bool:
    return sum(quote.source.published is not None for quote in quotes) >= DATED * len(quotes)


def _overview(language: Language, titles: Mapping[int, str], leads: dict[int, Item], used: Sequence[Sentence]) -> Section:
    """What each part leads with, under the title of its section; a part without one promises none."""
    words = phrases_in(language)
    lines = [
        f"- {f'**{escaped(titles[part])}** — ' if titles[part] else ''}{credit(item.sentence.quote, language)}"
        f"{quoted(item.sentence.quote)}"
        for part, item in leads.items()
    ]
    return Section(heading=words.lead, body="\n\n".join([extent(language, [s.quote for s in used]), "\n".join(lines)]))


def extent(language: Language, quotes: Sequence[Quote]) -> str:
    """How many statements from how many sources of which years a report rests on."""
    words = phrases_in(language)
    years = sorted(q.source.published.year for q in quotes if q.source.published)
    dated = bool(years) and len(years) >= DATED * len(quotes)
    template = (words.overview_year if years[0] == years[-1] else words.overview_dated) if dated else words.overview
    return template.format(
        statements=_counted(len(quotes), words.statement, words.statements),
        sources=_counted(len({q.source.url for q in quotes}), words.source, words.sources),
        first=years[0] if years else "",
        last=years[-1] if years else "",
    )


def _counted(count: int, one: str, several: str) -> str:
    return one if count == 1 else several.format(count=count)
