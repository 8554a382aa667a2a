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
        ("in [1890] he said [3] and [12, 13]", "in (1890) he said [q0] and [12, 13]"),
        ("the rate (95% CI [12, 34]) fell [q1].", "the rate (95% CI [12, 34]) fell [q1]."),
        ("between [1, 2] and [3–17] by then [q1]", "between [1, 2] and [3–17] by then [q1]"),
        ("by numbers alone [1, 2].", "by numbers alone [q0]."),
        (
            "paid nothing (see q1). Others (q2, p. 3) and (cf. q1; q2)",
            "paid nothing (see [q1]). Others ([q2], p. 3) and (cf. [q1]; [q2])",
        ),
        ("a [citation:q1] b [q2, p. 3] c [source: q1, q2] d [Ref. q1]", "a [q1] b [q2] c [q1][q2] d [q1]"),
        ("a \\[q1\\] b ［q2］ c （ｑ１） d 【ｑ２】 e <sup>q1</sup>", "a [q1] b [q2] c [q1] d [q2] e [q1]"),
        ("a \\cite{q1} b \\citep{q2, q1} c <ref>q1</ref> d [@q2]", "a [q1] b [q2][q1] c [q1] d [q2]"),
        ("a (source: q1 – Annals of the cape, 1951, p. 3).", "a (source: [q1] – Annals of the cape, 1951, p. 3)."),
        ("a [q2: Annals of the cape, page 3].", "a ([q2]: Annals of the cape, page 3)."),
        ("the charge x_{q1} and x^{q2} [q1]", "the charge x_{q1} and x^{q2} [q1]"),
        ("a [source: q9] b [citation:q9, q1] c (see q9)", "a [q0] b [q1] c (see q9)"),
        (
            "F = k(q1 q2)/r, as the charges (q1 < q2 of them) say [q1]",
            "F = k(q1 q2)/r, as the charges (q1 < q2 of them) say [q1]",
        ),
        ("growth in [Q1 2024] and (Q2 of 2025) [q1]", "growth in [Q1 2024] and (Q2 of 2025) [q1]"),
        ("`x[q1]` is code's, `see [citation:q2]` is not", "`x` [q1] is code's, `see` [q2] is not"),
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
