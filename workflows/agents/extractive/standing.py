"""Whether a sentence can stand alone, and whether it is in good shape to be quoted."""

import re

from workflows.agents.extractive.sentences import Sentence
from workflows.agents.extractive.words import word_count

_LEANS = re.compile(
    r"^[\"“'‘(]*(?:"
    r"(?:this|these|those|such|it|its|he|him|his|she|her|hers|they|them|their|theirs|the (?:latter|former|same|above|said|result)"
    r"|and|but|or|nor|yet|thus|therefore|hence|however|moreover|furthermore|nevertheless|nonetheless|accordingly|consequently"
    r"|besides"
    r"|likewise|similarly|instead|otherwise|meanwhile|then|also|indeed|another|others?|here|there(?:fore|by|in|of|after|upon)"
    r"|as (?:such|a result|a consequence|already|before|I (?:have )?said)|in (?:other words|addition|contrast|turn"
    r"|consequence|short|fact|conclusion)"
    r"|for (?:example|instance|this|these|that|those|such)"
    r"|(?:in|on|of|at|by|to|with|from|under|upon|after|before|until|during|through|against|among|within|without)"
    r" (?:this|these|those|such|it|them|him|her|their|his|its|which|the (?:same|other|contrary|latter|former))"
    r"|at the same time|on the (?:other|one|contrary)|to (?:this|that) end|not only|no (?:such|less)|who|which|whose|whom"
    r"|both (?:are|were|of (?:these|them|those))|(?:n?either|some|one|many|most|all|each|none|few) (?:is|was|are|were"
    r"|of (?:these|them|those|which))"
    r"|if (?:not|so)|so (?!far|long|much|many)|still(?=,)|again(?=,)|(?:first|second|third|fourth)(?:ly)?(?=,)|finally|lastly"
    r"|next(?=,))\b"
    r"|that (?!(?:the|a|an|is why|nations?|countr|government|state)\b)"
    r")",
    re.IGNORECASE,
)
_EXPLETIVE = re.compile(
    r"^it (?:is|was|has|had|will|would|should|must|may|might|can|could|seems|appears|becomes|became|gives|needs|cannot)\b"
    r"(?: not| never| also| now| therefore| already)*(?: [\w'’-]+){0,6}? (?:that|to|whether|for|when|if|because|how)\b",
    re.IGNORECASE,
)
_DEICTIC = re.compile(
    r"^(?:this|these|those) (?:country|nation|government|republic|union|administration|congress|people|city|state|states"
    r"|united states|year|century"
    r"|book|paper|article|study|work|report|guide|document)\b",
    re.IGNORECASE,
)
_BACKWARD = re.compile(
    r"\b(?:this|these|those|such|said|aforesaid|above|latter|former|the same|(?:for|in|to|by|of|on) that) (?:\w+ )?"
    r"(?:act|bill|law|laws|measure|measures|tax|system|plan|policy|subject|question|object|purpose|view|views|reason|reasons"
    r"|case|cases|amount"
    r"|treaty|course|principle|power|matter|result|results|point|respect|method|change|changes|provision|provisions|sum"
    r"|institution|work)\b",
    re.IGNORECASE,
)
_ENDS = re.compile(r"[.!。！…][\"”'’」』)）\]]*$")
_HEADING = re.compile(r"^(?:#{1,6}\s|\||[-=*_]{3,}|```|(?:[IVXLC]+|\d{1,2}|[A-Z])[.)]\s)")
_HAN_LEANS = re.compile(r"^(?:这|那|此|其|他|她|它|但|而|因此|所以|然而|同时|另外|此外|并且|于是|由此|该)")
_QUOTES = "\"”'’"
_NOT_STATED = ("?", "？", ":", "：")
_AIMS = re.compile(
    r"^(?:aims?|objectives?|purpose|rationale|main outcome|data (?:sources?|abstraction|extraction|synthesis)|review methods"
    r"|study (?:selection|design)|design|setting|participants|patients|interventions?|methods?|methodology|measurements)\b"
    r"(?=[ :]+(?:[A-Z]|\d|to\b|measures?\b|and methods))"
    r"|\b(?:aim(?:s|ed)?|objectives?|purpose|goal) (?:of (?:this|the|our|these) \w+ )?(?:was|is|were|are)\b"
    r"|\b(?:to|we|and|was|were|have) (?:also )?(?:investigat|determin|examin|evaluat|assess|test|explor|compar|estimat|ascertain"
    r"|quantif|differentiat)(?:e|ed|y|ied)?\b"
    r"|\b(?:is|are|was|were|remains?) (?:still |not |largely |poorly |yet |fully |well )*"
    r"(?:unclear|unknown|uncertain|controversial|debated|known|understood)\b"
    r"|\bwe (?:aimed|sought|hypothesi[sz]ed?|asked|studied|performed|conducted|searched|used|enrolled|recruited|randomi[sz]ed)\b"
    r"|\b(?:was|were) (?:randomly |independently |also )?(?:included|excluded|assigned|randomi[sz]ed|divided|converted|recruited"
    r"|enrolled|followed|utili[sz]ed|selected|searched|collected|measured|calculated|matched|adjusted)\b"
    r"|\b(?:study|trial|analysis|review) (?:included|enrolled|comprised|recruited|involved|focuses|aims)\b",
    re.IGNORECASE,
)
"""What a study asks, and how it went about it. Only in sources of research do such sentences come in numbers."""
_IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
"""Where science puts its figures: (odds ratio 0.88, 95% confidence interval 0.81 to 0.96)."""
_IDEAL = range(11, 42)
HALF_QUOTED = 0.6
"""What is left of a sentence in which somebody else begins or ends to speak."""
_SHORTEST = 5
_LONGEST = 90


def leans(sentence: Sentence) -> bool:
    """Whether a sentence only makes sense after the one before it: it begins with a pronoun, a connective or mid-sentence."""
    text = sentence.text
    if _HAN_LEANS.match(text) or text[:1].islower():
        return True
    return bool(_LEANS.match(text)) and not (_EXPLETIVE.match(text) or _DEICTIC.match(text))


def points_back(sentence: Sentence) -> bool:
    """Whether a sentence speaks of "this act" or "such a measure" without saying which."""
    return bool(_BACKWARD.search(sentence.text))


def aims(sentence: Sentence) -> bool:
    """Whether a sentence says what a study set out to learn or how, or that something is not known: a question, no answer."""
    return bool(_AIMS.search(sentence.text))


def shape(sentence: Sentence) -> float:
    """How fit a sentence is to be quoted, from 0 (a heading, a table row, a question) to 1."""
    text, count = sentence.text, word_count(sentence.text)
    if _HEADING.match(text) or text.rstrip(_QUOTES).endswith(_NOT_STATED) or not _SHORTEST <= count <= _LONGEST:
        return 0.0
    fit = 0.8 if count < _IDEAL.start else 1.0 - max(0, count - _IDEAL.stop) / _LONGEST
    return fit * _finish(text, count) * _prose(text, count) * (1.0 if text.count('"') % 2 == 0 else HALF_QUOTED)


def _finish(text: str, count: int) -> float:
    """Full for a sentence that ends as one, less for a clause cut at a semicolon, little for a line without a full stop."""
    if _ENDS.search(text):
        return 1.0
    if text.endswith((";", "；")):
        return 0.85
    return 0.5 if count >= _IDEAL.start else 0.0


def _prose(text: str, count: int) -> float:
    """Less for text full of figures or capitals, which is a table or a heading rather than a statement."""
    plain = _IN_BRACKETS.sub(" ", text).split()
    figures = sum(part[0].isdigit() or part[0] == "$" for part in plain)
    shouted = sum(part.isupper() and len(part) > 2 for part in plain)
    return max(0.2, 1.0 - 3 * figures / count - shouted / count)
