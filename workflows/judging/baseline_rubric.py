"""A rubric written by hand for any report: the baseline for query-specific rubrics (QSR Table 1)."""

from collections.abc import Mapping, Sequence

from app.domain.query import Language
from app.domain.rubric import Criterion, Origin, Rubric

_ENGLISH = (
    ("Answers the question", "Key Criterion: Answers the question that was asked, in full and early in the report.", 5),
    ("Grounded in sources", "Key Criterion: Rests its statements of fact on sources that are named and can be found.", 5),
    (
        "Right in its facts",
        "Key Criterion: States facts, figures, names and dates that agree with its sources and each other.",
        5,
    ),
    ("Covers the subject", "Important Criterion: Covers the aspects of the subject that an informed reader would look for.", 4),
    (
        "Goes beyond listing",
        "Important Criterion: Explains causes and connections and draws conclusions of its own from them.",
        4,
    ),
    ("Keeps to the wishes", "Important Criterion: Keeps to the scope, the limits and the form that the question sets.", 4),
    ("Sees other sides", "Important Criterion: Names evidence and views that speak against its main points.", 3),
    ("Orderly structure", "Important Criterion: Is ordered in sections that follow each other by a line of thought.", 3),
    ("Clear language", "Optional Criterion: Is written in clear, precise sentences that need no second reading.", 2),
    ("Says its limits", "Optional Criterion: Says what is uncertain, missing or open.", 1),
    ("Padding", "Error Criterion: Repeats itself or fills space with generalities that fit any subject.", -1),
    ("Contradictions", "Error Criterion: Has statements that contradict each other or their own sources.", -2),
)
_CHINESE = (
    ("回答问题", "关键标准：完整地回答所提的问题，并且在报告前部就给出答案。", 5),
    ("依据来源", "关键标准：事实陈述以写明且能够找到的来源为依据。", 5),
    ("事实正确", "关键标准：所述事实、数字、名称和日期与来源相符，前后一致。", 5),
    ("覆盖主题", "重要标准：涵盖内行读者会期待的各个方面。", 4),
    ("不止罗列", "重要标准：解释原因和联系，并由此得出自己的结论。", 4),
    ("遵守要求", "重要标准：遵守问题设定的范围、限制和形式。", 4),
    ("兼顾他方", "重要标准：指出与其主要观点相左的证据和看法。", 3),
    ("结构有序", "重要标准：分节安排，各节依思路先后相承。", 3),
    ("语言清楚", "可选标准：语句清楚准确，无须反复阅读。", 2),
    ("说明局限", "可选标准：说明哪些内容不确定、缺失或尚无定论。", 1),
    ("空话重复", "错误标准：内容重复，或以放在任何主题上都成立的空话充数。", -1),
    ("自相矛盾", "错误标准：陈述彼此矛盾，或与所引来源相悖。", -2),
)


def _make_rubric(items: Sequence[tuple[str, str, int]]) -> Rubric:
    criteria = tuple(Criterion(title=title, description=description, weight=weight) for title, description, weight in items)
    return Rubric(criteria=criteria, origin=Origin.GENERAL)


BASELINE: Mapping[Language, Rubric] = {Language.ENGLISH: _make_rubric(_ENGLISH), Language.CHINESE: _make_rubric(_CHINESE)}
