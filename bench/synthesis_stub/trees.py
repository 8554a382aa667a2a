"""A model for evidence trees without a model: it obeys each prompt by taking words out of what it is shown, in both languages.

    ScriptedModel(TreeStub())                       # obeys
    ScriptedModel(TreeStub("invented_statement"))   # breaks one rule, always

Its answers are a function of the prompt. They are well-formed and grounded, and of no use for training.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from app.domain.chat import ChatRequest
from bench.synthesis_stub.tree_plants import PLANTS, Answer
from bench.synthesis_stub.tree_words import Wording, choose_wording
from retrieval.language.sentences import list_sentences
from retrieval.language.tokens import list_stems

_PASSAGE = re.compile(r"^\[(p\d+)\] (.*)$", re.MULTILINE)
_BLOCK = re.compile(r"^\[([0-9.]+)\] (.*)\n((?:- .*\n?)*)", re.MULTILINE)
_CRITERION = re.compile(r"^(R\d+) \((factual|logical)\): (.*)\n((?:- .*\n)*)  weight (\S+); leaves: (.*)$", re.MULTILINE)
_TERM = re.compile(
    r"(?<![.!?] )(?<!^)[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*|\b[a-z]{7,14}\b|[\u4e00-\u9fff]{3,6}(?=[，。、的和与在是])"
)
SIDES = ("comparison", "risks", "quantities", "mechanisms", "actors", "history")
NO_CHILDREN: Answer = {"comparison": "", "risks": "", "quantities": "", "others": []}
SELECTED = 5
ALIKE = 0.75
MOST_PASSAGES = 3
DROPPED_OF, KEPT_OF, MISLED_OF = 12, 20, 5
"""One pair of so many is dropped, kept as it is, or has a criterion with a negative weight."""


@dataclass(frozen=True, slots=True)
class ShownLeaf:
    """A leaf as a prompt shows it."""

    id: str
    question: str
    statements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShownPrompt:
    """A prompt as the stub reads it: the values between their tags, and how answers are worded."""

    text: str
    words: Wording
    widest: int

    def read(self, tag: str) -> str:
        """Return what stands in a tag."""
        found = re.search(rf"<{tag}>\n(.*?)\n</{tag}>", self.text, re.DOTALL)
        return found[1] if found else ""

    def read_lines(self, tag: str) -> list[str]:
        """Return the lines of a tag, without dashes and numbers before them."""
        return [line for raw in self.read(tag).splitlines() if (line := re.sub(r"^(?:- |\d+\. )|^-$", "", raw))]

    def read_leaves(self) -> list[ShownLeaf]:
        """Return the leaves with their statements."""
        blocks = _BLOCK.findall(self.read("leaves") + "\n")
        return [ShownLeaf(one, asked, tuple(line[2:] for line in said.splitlines())) for one, asked, said in blocks]

    def falls_on(self, every: int, salt: str) -> bool:
        """Say whether this prompt is one of `every`, by a hash of it."""
        return int(hashlib.sha256(f"{salt} {self.text}".encode()).hexdigest(), 16) % every == 0


def plan_root(shown: ShownPrompt) -> Answer:
    """Ask broadly about the topic."""
    return {"question": shown.words.root.format(topic=shown.read("topic"))}


def propose(shown: ShownPrompt) -> Answer:
    """Ask each side about a word of the statements that no question above has."""
    most = int(shown.read("most_children"))
    asked = [*shown.read_lines("path"), shown.read("question")]
    subject = shown.words.find_subject(asked[0])
    terms = [term for term in find_terms("\n".join(shown.read_lines("statements"))) if term not in " ".join(asked)]
    if len(terms) <= len(SIDES[:3]):
        return NO_CHILDREN
    questions = {
        side: shown.words.sides[side].format(x=term, y=other, s=subject)
        for side, term, other in zip(SIDES[:most], terms, terms[1:], strict=False)
    }
    others = [{"question": question, "facet": side} for side, question in questions.items() if side not in SIDES[:3]]
    sides: Answer = {side: questions.get(side, "") for side in SIDES[:3]}
    return sides | {"others": others} if all(sides.values()) else NO_CHILDREN


def find_terms(text: str) -> list[str]:
    """Return names and long words of a text, each once."""
    return list(dict.fromkeys(term for line in text.splitlines() for term in _TERM.findall(line)))


def gate(shown: ShownPrompt) -> Answer:
    """Let proposals pass: all, or as many as the stub lets grow."""
    count = min(shown.widest, len(shown.read_lines("proposals")))
    return {"passing": [str(number) for number in range(1, count + 1)], "reason": shown.words.opens_new}


def ground(shown: ShownPrompt) -> Answer:
    """Choose passages with sentences that share words with the question, beyond those of the title, and copy these."""
    asked = shown.read("question")
    pieces = _PASSAGE.split(shown.read("passages"))
    chosen = []
    for short, title, body in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
        wanted = set(list_stems(asked)) - set(list_stems(title))
        scores = {one: len(wanted & set(list_stems(one))) for one in list_sentences(body) if shown.words.is_usable(one)}
        near = sorted((one for one in scores if scores[one]), key=lambda one: (-scores[one], _mix(asked, one)))
        if near:
            chosen.append({"passage": short, "statements": near[:2]})
    return {"passages": chosen[:MOST_PASSAGES]}


def _mix(*texts: str) -> str:
    """Return a hash, so that different questions take different sentences of equal standing."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def merge(shown: ShownPrompt) -> Answer:
    """Select a leaf of each branch, merge two at a time, and make a criterion of a statement of each."""
    leaves = select_leaves(shown.read_leaves())
    topic = shown.read("topic")
    terms = [term for leaf in leaves for term in find_terms(leaf.statements[0])[:1] if term not in topic]
    question = shown.words.query.format(topic=topic, sides=shown.words.comma.join(dict.fromkeys(terms)))
    return {
        "selected": [{"leaf": leaf.id, "reason": shown.words.selected.format(leaf=leaf.question)} for leaf in leaves],
        "merges": list_merges([leaf.id for leaf in leaves], question, topic, shown.words),
        "question": question,
        "criteria": [*(state_fact(leaf, shown.words) for leaf in leaves), *list_reasoning(leaves, shown)],
    }


def select_leaves(leaves: Sequence[ShownLeaf]) -> list[ShownLeaf]:
    """Return leaves of different branches in turn, each with its rarest statement. None has the statements of all."""
    count = Counter(statement for leaf in leaves for statement in leaf.statements)
    branches: dict[str, list[ShownLeaf]] = {}
    for leaf in leaves:
        branches.setdefault(leaf.id.partition(".")[0], []).append(leaf)
    turns = [branch[place] for place in range(len(leaves)) for branch in branches.values() if place < len(branch)]
    chosen: list[ShownLeaf] = []
    said: set[str] = set()
    asked: list[set[str]] = []
    for leaf in turns:
        own = sorted((one for one in leaf.statements if one not in said), key=lambda one: (count[one], one))
        words = set(list_stems(leaf.question))
        alike = any(len(words & other) >= ALIKE * len(words | other) for other in asked)
        if len(chosen) < SELECTED and own and not alike and not (chosen and chosen[0].statements[0] in leaf.statements):
            chosen.append(ShownLeaf(leaf.id, leaf.question, (own[0],)))
            said |= set(leaf.statements)
            asked.append(words)
    return chosen


def list_merges(ids: Sequence[str], question: str, topic: str, words: Wording) -> list[Answer]:
    """Merge two at a time until one is left, whose question is the query."""
    waiting, merges = list(ids), list[Answer]()
    while len(waiting) > 1:
        output = f"m{len(merges) + 1}"
        inputs = waiting[:2] if len(waiting) > 3 else waiting
        asks = question if inputs == waiting else words.between.format(topic=topic, number=len(merges) + 1)
        merges.append({"inputs": inputs, "output": output, "question": asks, "reason": words.merged})
        waiting = [*waiting[len(inputs) :], output]
    return merges


def state_fact(leaf: ShownLeaf, words: Wording) -> Answer:
    """Return a factual criterion of a leaf's first statement."""
    said = leaf.statements[0]
    told = {"description": words.states.format(said=said), "leaves": [leaf.id], "evidence": [said]}
    return {"type": "factual", "weight": 0.8} | told


def list_reasoning(leaves: Sequence[ShownLeaf], shown: ShownPrompt) -> list[Answer]:
    """Return logical criteria, now and then one with a negative weight."""
    told = [{"type": "logical", "description": said, "weight": 0.6} for said in shown.words.reasons]
    misled = {"type": "logical", "description": shown.words.misleads, "weight": -0.5}
    rests = {"leaves": [leaf.id for leaf in leaves], "evidence": []}
    return [one | rests for one in [*told, *([misled] if shown.falls_on(MISLED_OF, "misled") else [])]]


def verify(shown: ShownPrompt) -> Answer:
    """Revise most pairs: negative weights go, and at most eight criteria stay."""
    told: Answer = {"justification": shown.words.audited, "faults": [], "question": "", "criteria": []}
    if shown.falls_on(DROPPED_OF, "dropped"):
        return told | {"decision": "drop", "faults": ["suitability"]}
    found = [_read_criterion(*parts) for parts in _CRITERION.findall(shown.read("criteria"))]
    kept = [one for one in found if one["weight"] >= 0]
    if len(kept) == len(found) and shown.falls_on(KEPT_OF, "kept"):
        return told | {"decision": "keep"}
    faults = ["alignment"] if len(kept) == len(found) else ["scoring"]
    question = shown.words.revise(shown.read("question"))
    return told | {"decision": "revise", "faults": faults, "question": question, "criteria": kept[:8]}


def _read_criterion(_: str, kind: str, description: str, evidence: str, weight: str, leaves: str) -> Answer:
    named = [] if leaves == "-" else leaves.split(", ")
    said = [line[2:] for line in evidence.splitlines()]
    return {"type": kind, "description": description, "weight": float(weight), "leaves": named, "evidence": said}


def judge_by_passages(shown: ShownPrompt) -> Answer:
    """Make criteria of the first sentences of passages."""
    pieces = _PASSAGE.split(shown.read("passages"))
    first = [
        (short, next((one for one in list_sentences(body) if shown.words.is_usable(one)), ""))
        for short, body in zip(pieces[1::3], pieces[3::3], strict=True)
    ]
    facts = [
        {
            "type": "factual",
            "description": shown.words.states.format(said=said),
            "weight": 0.7,
            "passages": [short],
            "evidence": [said],
        }
        for short, said in first[:4]
        if said
    ]
    return {"criteria": [*facts, *_reason_alone(shown)]}


def judge_alone(shown: ShownPrompt) -> Answer:
    """Make criteria of the question alone."""
    facts = [{"type": "factual", "description": one, "weight": 0.7} for one in shown.words.guesses]
    return {"criteria": [*facts, *_reason_alone(shown)]}


def _reason_alone(shown: ShownPrompt) -> list[Answer]:
    return [{"type": "logical", "description": said, "weight": 0.6} for said in shown.words.reasons]


STEPS: Mapping[str, Callable[[ShownPrompt], Answer]] = {
    "tree_root": plan_root,
    "tree_expansion": propose,
    "tree_gate": gate,
    "tree_grounding": ground,
    "tree_merge": merge,
    "rubric_verification": verify,
    "rubric_searched": judge_by_passages,
    "rubric_closed_book": judge_alone,
}


@dataclass(frozen=True, slots=True)
class TreeStub:
    """Answers requests for steps of evidence trees. `plant` names the rule to break, or is empty; see `tree_plants.py`.

    No more than `widest` children of a node pass the gate: small trees for tests.
    """

    plant: str = ""
    widest: int = 6

    def __call__(self, request: ChatRequest) -> str:
        """Return the answer to a request, as JSON."""
        step = request.response_schema.name if request.response_schema else ""
        system, user, *_ = (message.content or "" for message in request.messages)
        return self.answer(step, system, user)

    def answer(self, step: str, system: str, user: str) -> str:
        """Return the answer to the two parts of a step's prompt, as JSON."""
        shown = ShownPrompt(user, choose_wording(system), self.widest)
        answer = STEPS[step](shown)
        planted = PLANTS.get(self.plant)
        if planted and planted.step == step:
            answer = planted.change(answer, user)
        return json.dumps(answer, ensure_ascii=False)
