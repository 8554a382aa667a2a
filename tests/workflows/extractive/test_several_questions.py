import pytest

from workflows.agents.extractive.several import asked_apart


@pytest.mark.parametrize(
    ("text", "questions"),
    [
        ("Does aspirin prevent strokes, and how does it bleed?", ()),
        (
            "Does vitamin D prevent fractures, and how does the body make vitamin D?",
            ("Does vitamin D prevent fractures?", "How does the body make vitamin D?"),
        ),
        ("Why did the Roman Empire fall? What followed in Gaul?", ("Why did the Roman Empire fall?", "What followed in Gaul?")),
        ("关税是怎样征收的？为什么总统支持关税？", ("关税是怎样征收的？", "为什么总统支持关税？")),
        ("When and where did Lincoln speak?", ()),
        ("What is inflation and how is it measured?", ("What is inflation?", "How is inflation measured?")),
        ("What did Lincoln say about slavery and the Union?", ()),
        ("Who wrote the book, and which of these won?", ()),
        ("What happened in the mill and what was changed?", ()),
        (
            "How did the army change after the Civil War, and what did it cost?",
            ("How did the army change after the Civil War?", "What did the army cost?"),
        ),
        ("", ()),
    ],
)
def test_questions_that_stand_alone_are_told_apart(text: str, questions: tuple[str, ...]) -> None:
    assert asked_apart(text) == questions
