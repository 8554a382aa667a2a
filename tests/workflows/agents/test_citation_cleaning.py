import pytest

from workflows.agents.citation_cleaning import clean_citations


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a [q1].", "a [q1]."),
        ("a [q1,q2] b [Q2; q9]", "a [q1][q2] b [q2]"),
        ("a [[q1]] b 【q2】 c (q1, q2) d [^q1]", "a [q1] b [q2] c [q1][q2] d [q1]"),
        ("a [q1](http://x) b [text](http://x)", "a [q1] b text[q0]"),
        ('<cite id="q1,q7">claimed</cite> b', "claimed[q1] b"),
        ("in [1890] he said [3] and [12, 13]", "in (1890) he said [q0] and [q0]"),
        ("![chart](http://x/y.png) after", "chart after"),
        ("see https://made.up/x?q=1, and www.made.up.", "see [q0], and [q0]."),
        ("| a | b [q1] |\n|---|---|\n| 1 | 2 [q9] |", "| a | b [q1] |\n|---|---|\n| 1 | 2 [q0] |"),
        ("the third quarter (Q3) of 1893", "the third quarter (Q3) of 1893"),
        ("[[[q1]]] and [[5]]", "[q1] and [q0]"),
        ("said (https://made.up) and [q9][q1], [q1][q9] or [q9][q8]", "said [q0] and [q1], [q1] or [q0]"),
        ("cleaned before [q0], and [q1] [q0]", "cleaned before [q0], and [q1]"),
        ("the band t(9;22)(q2;q1) and (q1)", "the band t(9;22)(q2;q1) and [q1]"),
        ("p lies in [0, 1] and `argv[1]`, as `[1]` says", "p lies in [0, 1] and `argv[1]`, as [q0] says"),
        ("written in .NET with `make  .` and P was .05 [q1] .", "written in .NET with `make  .` and P was .05 [q1]."),
        ("```sh\ncut  -f[1] .\n```\nsaid [1] .", "```sh\ncut  -f[1] .\n```\nsaid [q0]."),
        ("```sh\n[[ -f x ]] && git add .\n```\nsaid [q1].", "```sh\n[[ -f x ]] && git add .\n```\nsaid [q1]."),
        ("`curl https://made.up` and `[q1]`", "`curl` [q0] and [q1]"),
        ("`git add x [q1]` or ``a`b [q9] [q2]``.", "`git add x` [q1] or ``a`b`` [q2]."),
        ("- item  one\n  - nested [q2]", "- item one\n  - nested [q2]"),
    ],
)
def test_citations_are_cleaned(text: str, expected: str) -> None:
    assert clean_citations(text, ("q1", "q2")).text == expected
