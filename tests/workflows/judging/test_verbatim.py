"""What counts as a claim in its source's own words."""

import pytest

from app.domain.evidence import Quote, Source
from workflows.judging.verbatim import is_verbatim

TEXT = (
    "The pier of Norrhaven was opened on 4 May 1887. No stone of the old wall was left standing. "
    "Its keeper wrote that “the lamp burns day and night” in those years."
)
CODE = "import os\nx = 1\nprint(os.getcwd())\n"


def quote(text: str) -> Quote:
    return Quote(
        source=Source(url="https://example.org/a", title="Norrhaven", snapshot="0" * 64), text=text, start=0, end=len(text)
    )


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("4 May 1887", TEXT),
        ("1887", TEXT),
        ("x = 1", CODE),
        ("print(os.getcwd())", CODE),
        ("“The pier of Norrhaven was opened on 4 May 1887.", TEXT),
        ('The pier of Norrhaven was opened on 4 May 1887."', TEXT),
        ("The pier of “Norrhaven was opened on 4 May 1887.", TEXT),
        ("“stone of the old wall”", "A stone of the old wall may be left."),
        ("The lamp burns day and night”", TEXT),
    ],
)
def test_a_quotation_is_verbatim_however_short_and_with_a_stray_mark(claim: str, text: str) -> None:
    assert is_verbatim(claim, [quote(text)])


@pytest.mark.parametrize("claim", ["4 May 1888", "stone of the old wall was left standing", "", "“”", "y = 1"])
def test_what_the_source_does_not_say_is_not(claim: str) -> None:
    assert not is_verbatim(claim, [quote(TEXT)])
