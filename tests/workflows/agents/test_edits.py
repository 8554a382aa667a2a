"""The places that edits of a report name."""

import pytest

from workflows.agents.reporting.edits import EditAnswer, apply_edits

TEXT = (
    "# Ice\n\n## The bill\n\nIce melts in May and June [q1]. 冰在五月融化，六月更快[q2]。 It costs much; it costs more each year."
)


@pytest.mark.parametrize(
    ("find", "replace", "changed"),
    [
        ("## The bill", "## What it costs", ("## The bill", "## What it costs")),
        ("六月更快", "七月更快", ("六月更快", "七月更快")),
        ("Ice  melts in May and June", "Ice melts in May", ("Ice melts in May and June", "Ice melts in May")),
        ("it costs", "it is", ("it costs", "it is")),
        ("costs", "is", ("", "")),
        ("", "Anything", ("", "")),
        ("Snow falls in winter", "", ("", "")),
        ("Ice melts … June [q1].", "It thaws.", ("Ice melts in May and June [q1].", "It thaws.")),
        ("冰在五月 ... 六月更快[q2]。", "", ("冰在五月融化，六月更快[q2]。", "")),
        ("## The bill … [q1].", "Gone.", ("## The bill\n\nIce melts in May and June [q1].", "Gone.")),
        ("it costs more … Ice melts", "", ("", "")),
        ("Ice melts … no such words", "", ("", "")),
    ],
)
def test_an_edit_changes_the_one_place_it_names(find: str, replace: str, changed: tuple[str, str]) -> None:
    assert apply_edits(TEXT, [EditAnswer(find=find, replace=replace)]) == TEXT.replace(*changed)
