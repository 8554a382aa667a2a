"""The wordings of the stub for evidence trees, in English and Chinese."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from app.domain.script import count_ideographs

CHINESE_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class Wording:
    """How the stub asks and answers in one language. `{s}` is the topic, `{x}` and `{y}` are terms of its sources."""

    root: str
    subject: re.Pattern[str]
    sides: Mapping[str, str]
    query: str
    comma: str
    between: str
    states: str
    misleads: str
    reasons: tuple[str, ...]
    guesses: tuple[str, ...]
    revised: tuple[str, str]
    opens_new: str
    selected: str
    merged: str
    audited: str
    shortest: int
    longest: int

    def find_subject(self, question: str) -> str:
        """Return the topic of a root's question."""
        found = self.subject.search(question)
        return found[1] if found else question

    def is_usable(self, sentence: str) -> bool:
        """Say whether a sentence can be a statement: neither a fragment nor a long list."""
        return self.shortest <= len(sentence) <= self.longest and sentence.rstrip('”"」)）')[-1:] in ".!?。！？"

    def revise(self, question: str) -> str:
        """Return a question with one word changed."""
        return question.replace(*self.revised)


ENGLISH = Wording(
    root="How did {topic} come about, what sets it apart from its like, and where does it fall short?",
    subject=re.compile(r"^How did (.+?) come about,"),
    sides={
        "comparison": "How does {x} compare with {y} in {s}?",
        "risks": "Which problems or failures concern {x} in {s}?",
        "quantities": "How large or frequent is {x} in {s}?",
        "mechanisms": "By what means does {x} work in {s}?",
        "actors": "Who shaped {x} in {s}?",
        "history": "When did {x} change in {s}?",
    },
    query="Which forces explain {topic} when it is seen from {sides}, and how firm is the evidence?",
    comma=", ",
    between="What do parts {number} and following tell about {topic} together?",
    states="States this: {said}",
    misleads="Treats a doubtful detail as settled.",
    reasons=(
        "Sets at least two parties or cases against each other.",
        "Traces a cause to its effect step by step.",
        "Names what its sources leave unsettled.",
    ),
    guesses=("Gives the years in which it took place.", "Names the persons chiefly involved.", "Says where it happened."),
    revised=("Which forces explain", "Which forces best explain"),
    opens_new="Each brings something of its own.",
    selected="It adds a side of its own: {leaf}",
    merged="They bear on one matter.",
    audited="Sound topic; the wording can be closer to the leaves.",
    shortest=40,
    longest=360,
)
CHINESE = Wording(
    root="{topic}是怎样形成的，与同类相比有何特点，又有哪些不足？",
    subject=re.compile(r"^(.+?)是怎样形成的"),
    sides={
        "comparison": "{s}中{x}与{y}相比如何？",
        "risks": "{s}中{x}有哪些问题或失败？",
        "quantities": "{s}中{x}的数量或规模有多大？",
        "mechanisms": "{s}中{x}通过什么方式起作用？",
        "actors": "谁影响了{s}中的{x}？",
        "history": "{s}中{x}何时发生变化？",
    },
    query="从{sides}来看，哪些因素能够解释{topic}，证据又有多可靠？",
    comma="、",
    between="第{number}组及其后的内容合起来说明了{topic}的什么？",
    states="写明以下内容：{said}",
    misleads="把存疑的细节当作定论。",
    reasons=("把至少两方或两个案例放在一起对照。", "逐步说明原因如何导致结果。", "指出资料尚未定论之处。"),
    guesses=("写出事情发生的年份。", "写出主要的人物。", "说明发生的地点。"),
    revised=("哪些因素能够解释", "哪些因素最能解释"),
    opens_new="每一项都带来新的内容。",
    selected="它提供了一个独立的侧面：{leaf}",
    merged="它们涉及同一件事。",
    audited="主题可取；措辞可以更贴近叶子。",
    shortest=14,
    longest=160,
)


def choose_wording(system: str) -> Wording:
    """Return the wording in the language of a prompt's system part."""
    return CHINESE if count_ideographs(system) > CHINESE_SHARE * len(system) else ENGLISH
