"""Words and terms: what the extractive agents compare. English is stemmed, Chinese is cut into pairs of ideographs."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from retrieval.language.stems import find_root
from workflows.agents.extractive.things import Thing, known_things, things_in


def listed(text: str) -> tuple[str, ...]:
    """The words of a list written as text, in order."""
    return tuple(text.split())


def _set(text: str) -> frozenset[str]:
    return frozenset(listed(text))


FUNCTION_WORDS = _set("""
    a about above across after again against all almost along already also although always am among amongst an and another
    any anybody
    anyone anything are as at away be became because become been before behind being below beneath beside besides between
    beyond both
    but by can cannot could despite did do does doing done down during each either else enough etc even ever every everybody
    everyone
    everything except far few for from further get gets give gives given gave giving go goes going gone went got had has
    have having he hence her here hers
    herself him
    himself his how however i if in indeed inside instead into is it its itself just least less let like likewise many may
    me merely
    might mine more moreover most much must my myself near neither never nevertheless no nobody none nor not nothing now of
    off often on
    once one only onto or other others otherwise ought our ours ourselves out outside over own per perhaps quite rather
    really same
    shall she should since so some somebody someone something sometimes soon still such than that the their theirs them themselves
    then there thereby therefore these they this those though through throughout thus till to together too toward towards
    under unless
    until unto up upon us very via was we well were what whatever when whenever where whereas wherever whether which while
    who whoever
    whole whom whose why will with within without would yes yet you your yours yourself it's i'm i've we're we've they're
    don't didn't
    doesn't can't won't isn't aren't wasn't weren't let's that's there's what's i'd i'll we'll you're he's she's
""")
"""Words that carry grammar, not subject."""

LIGHT_WORDS = _set("""
    able account act action add advance age ago aim amount answer appear area arrive ask attempt author award base basis
    begin belong best
    better big birth birthplace body book bring build building call carry case cause center central century certain change
    character child
    city claim class close come common company compare condition connect consider contain continue country course create creator
    current day deal death decade describe design develop die different direct director discover discuss district early east
    effect
    end establish event example exist extent fact famous father featured feel film final find first follow form former found
    founder full
    general good great group grow hand happen hard head help high historical history hold home hour house hundred important
    include
    increase individual introduce issue join keep kind know known land language large largest last late lead leader leave
    left length level
    lie life line list live locate location long longest look lose low main major make man manner mark matter mean measure
    member mention
    method mile modern month mother move movie name national nature necessary need new next north number occur old oldest
    open order
    organization origin original part particular party people perform performer period person place plan play player point popular
    population portion position possible practice present previous principle probably problem process produce producer
    production program
    provide public publish purpose put question reach reason receive recent recently record refer region relate relation
    release remain
    report represent require respect respond rest result return right role run said say second see seem send serve series
    service set
    several show side similar single singer small song south special stand star start state station step story street
    subject success
    system take team tell term thing think third thousand three time title today total town tree try turn two type united
    use used usually
    value view war way week west win winner word work world write writer written wrong year young
""")
"""Words so general that a match on them alone says little."""

_FUNCTION_CHINESE = re.compile(
    "为什么|看待|什么时候|什么|怎么样|怎样|怎么|如何|哪些|哪个|哪里|多少|是否|有没有|以及|或者|因为|所以|但是|关于|对于|我们|他们|它们|这个|那个|这些|那些"
    "|[的了是在和与及或吗呢吧啊把被让从到对于以其之也都就而且并很更最不没有这那个们]"
)
_WORD = re.compile(r"[㐀-鿿豈-﫿]+|[^\W_㐀-鿿豈-﫿]+(?:['’][^\W_㐀-鿿豈-﫿]+)*")
_POSSESSIVE = re.compile(r"['’]s?$")


class Word(NamedTuple):
    """A word as it stands in a text, with its term (stem) and offsets."""

    text: str
    term: str
    start: int
    end: int


@lru_cache(maxsize=65_536)
def term_of(word: str) -> str:
    """The term of one word: lower case, without possessive, stemmed; empty for a word that only carries grammar."""
    lower = unaccented(word.lower()).replace("’", "'")
    if lower in FUNCTION_WORDS:
        return ""
    bare = _POSSESSIVE.sub("", lower)
    return "" if bare in FUNCTION_WORDS else find_root(bare)


def unaccented(word: str) -> str:
    """A word without accents: who asks for Akinoshu means Akinoshū."""
    if word.isascii():
        return word
    return "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))


def is_ideographic(word: str) -> bool:
    """Whether a word is Chinese."""
    return "\u3400" <= word[0] <= "\u9fff" or "\uf900" <= word[0] <= "\ufaff"


def words(text: str) -> list[Word]:
    """All words of a text in order; those that only carry grammar have an empty term."""
    found: list[Word] = []
    for match in _WORD.finditer(text):
        word = match.group()
        if is_ideographic(word):
            found.extend(_pairs(word, match.start()))
        else:
            found.append(Word(word, term_of(word), match.start(), match.end()))
    return found


def _pairs(run: str, offset: int) -> list[Word]:
    """Overlapping pairs of ideographs, not across words that only carry grammar."""
    pairs: list[Word] = []
    start = 0
    for gap in [*_FUNCTION_CHINESE.finditer(run), None]:
        end = gap.start() if gap else len(run)
        if end - start == 1:
            pairs.append(Word(run[start:end], run[start:end], offset + start, offset + end))
        pairs.extend(Word(run[i : i + 2], run[i : i + 2], offset + i, offset + i + 2) for i in range(start, end - 1))
        start = gap.end() if gap else end
    return pairs


def terms(text: str) -> list[str]:
    """The terms of a text, in order, repeats kept; after the words that name a thing of several names comes the thing's."""
    found = words(text)
    keys = [_key(word) for word in found]
    if _KNOWN.keys().isdisjoint(keys):
        return [word.term for word in found if word.term]
    named = {thing.last - 1: thing.known.term for thing in things_in(keys, _KNOWN)}
    both = ((word.term, named.get(place, "")) for place, word in enumerate(found))
    return [term for pair in both for term in pair if term]


def named_things(found: Sequence[Word]) -> list[Thing]:
    """The things of several names that words, all of a text's, name."""
    return list(things_in([_key(word) for word in found], _KNOWN))


def _key(word: Word) -> str:
    return word.term or word.text.lower()


def word_count(text: str) -> int:
    """The length of a text in words; two ideographs count as one."""
    return sum(1 if not is_ideographic(m.group()) else (len(m.group()) + 1) // 2 for m in _WORD.finditer(text))


_LIGHT_TERMS = frozenset(term_of(word) for word in LIGHT_WORDS)


def is_light(term: str) -> bool:
    """Whether a term is so general that a match on it alone says little."""
    return term in _LIGHT_TERMS


_KNOWN = known_things(lambda text: [_key(word) for word in words(text)])
