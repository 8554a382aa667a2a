"""What a set of self-samples is for (MDR section 6.3): which faults cost how much, and which dimensions are judged.

The paper names tense and table repair for DPO (1.8K and 2.8K rows) and whole reports for Self-SFT (4.3K). Penalties and wordings
are ours.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

from app.domain.errors import InvalidInput
from app.domain.query import Language


class SampleFault(StrEnum):
    """The faults that code finds. Each counts once, however often it occurs (as in MDR Eq. 11)."""

    CUT = "cut off, or a loop"
    FORM = "no report in the form that was asked for"
    TENSE = "a prediction of the past"
    TABLE = "a faulty table"
    NO_TABLE = "no table"
    MARKDOWN = "a faulty list or block of code"
    CITATION = "a faulty citation"
    UNCITED = "no citation"
    REPEAT = "a repeated sentence"
    LANGUAGE = "another language"
    HEADING = "a faulty heading"


class Dimension(StrEnum):
    """What judges look at, each by itself. `RUBRIC` is the whole of a rubric that a generator wrote for the question."""

    COMPREHENSIVENESS = "comprehensiveness"
    LOGIC = "logic"
    LANGUAGE = "language"
    TENSE = "tense"
    TABLES = "tables"
    RUBRIC = "rubric"


CRITERIA: Mapping[Language, Mapping[Dimension, str]] = {
    Language.ENGLISH: {
        Dimension.COMPREHENSIVENESS: "It covers every side of the question that matters, each with what supports it.",
        Dimension.LOGIC: (
            "Its statements fit together, paragraphs lead on from each other, and its conclusions follow from what it cites."
        ),
        Dimension.LANGUAGE: "It is written clearly and naturally, in one language and one tone, without filler.",
        Dimension.TENSE: (
            "Today is {today}. Nothing that lies before this date is told as if it were still to come, unless it names who "
            "foretold it, and nothing to come is told as if it had happened."
        ),
        Dimension.TABLES: (
            "It puts what is to be compared into tables. Each cell belongs under its head. Tables and text give the same values."
        ),
    },
    Language.CHINESE: {
        Dimension.COMPREHENSIVENESS: "涵盖问题的各个重要方面，每一方面都有依据。",
        Dimension.LOGIC: "各处陈述互不矛盾，段落衔接自然，结论由所引内容得出。",
        Dimension.LANGUAGE: "文字清楚自然，语言和语气统一，没有空话。",
        Dimension.TENSE: "今天是 {today}。此前的事没有写成将来的事（除非写明由谁预测），将来的事也没有写成已经发生。",
        Dimension.TABLES: "需要比较的内容用表格呈现：单元格与表头相符，表格与正文数值一致。",
    },
}


@dataclass(frozen=True, slots=True)
class Preset:
    """A purpose: the judged dimensions, and the penalty of each fault. Without dimensions the question's rubric judges.

    A penalty of 1 takes all points that rules give.
    """

    name: str
    dimensions: tuple[Dimension, ...]
    penalties: Mapping[SampleFault, float]

    def weigh(self, faults: Collection[SampleFault]) -> float:
        """Return the points that rules give: 1 without the penalties of these faults, at least 0."""
        return max(0.0, 1.0 - sum(self.penalties[fault] for fault in SampleFault if fault in faults and fault in self.penalties))


NOTHING_USABLE = {SampleFault.CUT: 1.0, SampleFault.FORM: 1.0}
OF_REPORTS = NOTHING_USABLE | {
    SampleFault.UNCITED: 0.6,
    SampleFault.TENSE: 0.3,
    SampleFault.TABLE: 0.3,
    SampleFault.MARKDOWN: 0.2,
    SampleFault.CITATION: 0.3,
    SampleFault.REPEAT: 0.2,
    SampleFault.LANGUAGE: 0.3,
    SampleFault.HEADING: 0.2,
}
PRESETS = {
    preset.name: preset
    for preset in (
        Preset(
            "tense",
            (Dimension.TENSE, Dimension.LANGUAGE),
            NOTHING_USABLE | {SampleFault.TENSE: 0.8, SampleFault.CITATION: 0.2, SampleFault.UNCITED: 0.2},
        ),
        Preset(
            "tables",
            (Dimension.TABLES, Dimension.LANGUAGE),
            NOTHING_USABLE
            | {
                SampleFault.TABLE: 0.8,
                SampleFault.NO_TABLE: 0.6,
                SampleFault.MARKDOWN: 0.2,
                SampleFault.CITATION: 0.2,
                SampleFault.UNCITED: 0.2,
            },
        ),
        Preset("rubrics", (), OF_REPORTS),
        Preset(
            "reports",
            (Dimension.COMPREHENSIVENESS, Dimension.LOGIC, Dimension.LANGUAGE, Dimension.TENSE),
            OF_REPORTS,
        ),
    )
}


def load_preset(name: str) -> Preset:
    """Load the preset of this name.

    Raises:
        InvalidInput: there is none; the message lists the known names.
    """
    if name not in PRESETS:
        raise InvalidInput(f"there is no preset {name!r}; there are {', '.join(PRESETS)}")
    return PRESETS[name]
