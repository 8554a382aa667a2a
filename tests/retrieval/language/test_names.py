"""Names in running text."""

import pytest

from retrieval.language.names import find_names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The drug lowers PCSK9 in mice, said Dr. J. Smith.", {"pcsk9", "dr"}),
        ("Gen. Ulysses Grant met O’Brien's aide near Saint-Denis. He left.", {"grant", "o’brien's", "saint-denis"}),
        ("Wages rose. Prices fell.", set()),
        ("the mRNA vaccine of BioNTech", {"mrna", "biontech"}),
        ("2024年GDP和OpenAI的PCSK9研究", {"gdp", "openai", "pcsk9"}),
    ],
)
def test_names(text: str, expected: set[str]) -> None:
    assert expected <= find_names(text)
    assert {"the", "wages", "he"}.isdisjoint(find_names(text))
