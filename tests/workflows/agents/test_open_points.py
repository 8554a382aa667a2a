import pytest

from app.domain.query import ResearchQuery, detect_language
from workflows.agents.clarification import find_open_points


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("How have minimum wages changed?", ["years", "country"]),
        ("How have minimum wages in Oregon changed since 1990?", []),
        ("How does a heat pump work?", []),
        ("What do courts say about noise?", ["country"]),
        ("近年来房价有什么变化？", ["年份"]),
    ],
)
def test_only_what_the_wording_leaves_open_is_asked_back(question: str, asked: list[str]) -> None:
    points = find_open_points(ResearchQuery(question=question, language=detect_language(question)))
    assert len(points) == len(asked)
    assert all(word in point.question for word, point in zip(asked, points, strict=True))
