"""What of a question is its subject, and what only frames it: who is asked to have spoken, and the verb of the asking."""

import re
from itertools import pairwise

from workflows.agents.extractive.words import Word, listed, term_of, words

FRAMES = frozenset(
    term_of(word)
    for word in listed("""
        say said justify justified explain describe argue defend oppose support view treat address discuss think
        change evolve develop differ compare contrast shift respond react affect influence cause impact portray
        present characterize characterise frame regard understand evaluate assess approach handle propose promise
        mention talk write speak criticize criticise praise agree disagree
    """)
) - {""}
"""Verbs by which a question asks for statements, reasons or a course, and that say nothing of what about."""
FRAME_NOUNS = frozenset(
    term_of(word)
    for word in listed("""
        language rhetoric attitude view opinion position stance discussion debate argument reason way role
        history evolution development thinking idea understanding approach policy statement evidence research
        literature overview summary difference similarity change question topic subject theme reaction response tone
        perception controversy controversial pros cons advantage disadvantage timeline chronology
    """)
)
_OF_EFFECT = frozenset(term_of(word) for word in listed("affect influence cause impact"))
"""Framing verbs with a subject on either side: how diabetes affects the kidneys."""
_GRAMMATICAL = frozenset(listed("give gave given offer offers offered cite cites cited raise raised put"))
"""Verbs that frame only by the noun before them: the reasons somebody gave."""
_ACTORS = frozenset(
    term_of(word)
    for word in listed("""
        presidents leaders politicians statesmen governments administrations officials lawmakers congressmen senators people
        americans scholars historians economists experts critics scientists researchers doctors physicians studies sources
        authors writers commentators
    """)
)
"""Those who speak in a collection: what all of it is by tells no passage from another."""
_ATTITUDES = frozenset(
    term_of(word)
    for word in listed("""
        fear distrust dislike worry advocate urge recommend favor favour reject resist condemn blame welcome endorse believe
        want seek demand hope warn object doubt deal cope handle tackle
    """)
)
"""Verbs that frame where they are what somebody is asked to have done, and are a subject elsewhere: the fear of communism."""
CHANGES_OF = ("climate", "regime")
"""What makes a name with "change" after it."""
_OF_CHANGE = frozenset(term_of(word) for word in listed("change evolve develop differ shift"))
_ABOUT = re.compile(r"\b(?:about|toward|towards|regarding|concerning|on the subject of|with respect to)\s+", re.IGNORECASE)
_ASKED_OF = re.compile(
    r"^\W*(?:(?:how|why|when|where|(?:what|which)(?:\s+[\w'’-]+){0,2}?)\s+(?:(?:did|do|does|has|have|had)\s+)?"
    r"|(?:did|do|does|has|have|had|whether)\s+)(?:the\s+|any\s+|a\s+|most\s+|many\s+"
    r"|some\s+|us\s+|u\.s\.\s+|american\s+|different\s+|various\s+|early\s+|past\s+)*(?P<actor>[\w'’-]+)\s",
    re.IGNORECASE,
)
"""A question about what somebody did or said, up to whoever that is."""
_SPOKEN_ON = re.compile(r"^\W*(?:the\s+)?(?P<actor>[\w'’-]+)\s+(?:on|and)\s", re.IGNORECASE)
_SPEAKERS_OWN = re.compile(
    r"\b(?:presidential|congressional|scholarly|public|official)\s+(?=(?:views?|opinions?|attitudes?|debates?|positions?|rhetoric)\b)",
    re.IGNORECASE,
)
"""Says whose the views are, not of what."""
_OF_WHICH = re.compile(
    r"\b(?:reasons?|arguments?|justifications?|grounds|explanations?|causes|objections?)\b.*?"
    rf"\b(?:{'|'.join(sorted(_GRAMMATICAL))})\b\s*(?:for|against|to|about|of|when|as)?\b",
    re.IGNORECASE,
)
_PASSIVE = re.compile(r"^\W*(?:how|why|when|where|what)\s+(?:is|are|was|were|can|could|should|must|may|will)\b", re.IGNORECASE)
"""The verb of such a question is what is asked about: how tuberculosis is treated is no treatise on tuberculosis."""


def subject_of(text: str, content: list[Word], framed: bool, fact: bool) -> list[Word]:
    """The words a question is about: what follows "about" or the framing verb, else all that does not frame.

    `content` are its words that tell something; `framed` says whether its form lets a framing verb come first, `fact` that it
    asks for neither reasons nor views nor a course.
    """
    owned = [(own.start(), own.end()) for own in _SPEAKERS_OWN.finditer(text)]
    content = [word for word in content if not any(start <= word.start < end for start, end in owned)] or content
    about = _ABOUT.search(text)
    if about and (after := _named(text, [w for w in content if w.start >= about.end()])):
        return after
    content = _without_attitude(text, _without_actor(text, content))
    if fact and _PASSIVE.match(text):
        return [word for word in content if word.term not in FRAME_NOUNS]
    if not framed:
        return _unframed(content)
    if (given := _OF_WHICH.search(text)) and (after := _unframed([w for w in content if w.start >= given.end()])):
        return after
    verb = next((w for w in content if w.term in FRAMES and w.text[0].islower()), None)
    if verb is None or verb.term in _OF_EFFECT:
        return _unframed(content)
    after = [w for w in content if w.start > verb.start]
    named = _unframed(after) if verb.term in FRAME_NOUNS else _named(text, after)
    return named or _unframed([w for w in content if w.start < verb.start])


def is_actor(term: str) -> bool:
    """Whether a term is those who speak in a collection."""
    return term in _ACTORS


def _without_actor(text: str, content: list[Word]) -> list[Word]:
    """The words without whoever acts in the question, where that is what the whole collection may be by."""
    match = _ASKED_OF.match(text) or _SPOKEN_ON.match(text)
    if match is None or term_of(match["actor"]) not in _ACTORS:
        return content
    return [word for word in content if word.start != match.start("actor")] or content


def _without_attitude(text: str, content: list[Word]) -> list[Word]:
    """The words without what somebody felt or wanted, where the question says of what: why presidents feared strikes."""
    match = _ASKED_OF.match(text)
    if match is None:
        return content
    told = text[match.end("actor") :]
    verb = len(text) - len(told.lstrip())
    rest = [word for word in content if word.start != verb or word.term not in _ATTITUDES]
    return rest if any(word.start > verb for word in rest) else content


def _named(text: str, content: list[Word]) -> list[Word]:
    """The words of a thing that is named; what else would frame is a part of its name in "human impact" and "climate change".

    A verb of change is none, but after the few words that make a name with it: how attitudes to immigration change.
    """
    before = {after: word.text.lower() for word, after in pairwise(content) if text[word.end : after.start] == " "}
    nouns = {word for word in before if word.term in FRAMES - FRAME_NOUNS - _OF_CHANGE or before[word] in CHANGES_OF}
    return [word for word in content if word.term not in FRAMES | FRAME_NOUNS or word in nouns]


def _unframed(content: list[Word]) -> list[Word]:
    return [word for word in content if word.term not in FRAMES | FRAME_NOUNS]


def phrase(text: str, subject: list[Word]) -> str:
    """The subject as a search phrase: the stretch of text it spans when that is short, else its words alone."""
    if not subject:
        return text.strip()
    stretch = text[subject[0].start : subject[-1].end]
    if len(words(stretch)) <= len(subject) + 3:
        return " ".join(stretch.split())
    return " ".join(dict.fromkeys(word.text for word in subject))
