"""The page of examples: what the policy wrote is in sight, long texts that it only read are folded."""

from training.recipes.samples_page import SHOWN_CHARS, ShownPiece, ShownSample, render_samples


def test_long_texts_that_are_only_read_are_folded_and_lose_nothing() -> None:
    read = "".join(f"<{number}>" for number in range(400))
    page = render_samples("t", [ShownSample("a", "b", [ShownPiece(read, False), ShownPiece("my answer" * 200, True)])])
    assert f"<summary>{len(read) - 2 * SHOWN_CHARS:,} characters more</summary>" in page
    assert page.count("<details>") == 1
    assert "my answer" * 200 in page
    assert all(f"&lt;{number}&gt;" in page for number in (0, 1, 398, 399))


def test_short_texts_are_shown_whole() -> None:
    page = render_samples("t", [ShownSample("a", "b", [ShownPiece("A question?", False), ShownPiece("Yes.", True)])])
    assert "<details>" not in page
    assert "A question?" in page
