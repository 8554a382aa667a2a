"""The characters that Word stores by their place in the font Symbol: degrees, Greek letters, signs."""

from typing import Any

from retrieval.corpora.office.styles import W

_GREEK = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ", "αβχδεφγηιϕκλμνοπθρστυϖωξψζ"
_SIGNS = {
    **dict(zip(range(0xA2, 0xA6), "′≤⁄∞", strict=True)),
    **dict(zip(range(0xAB, 0xBC), "↔←↑→↓°±″≥×∝∂•÷≠≡≈", strict=True)),
    **{0x2D: "−", 0xCE: "∈", 0xD1: "∇", 0xD5: "∏", 0xD6: "√", 0xD7: "⋅", 0xE5: "∑", 0xF2: "∫"},
    **dict(zip(range(0x41, 0x5B), _GREEK[0], strict=True)),
    **dict(zip(range(0x61, 0x7B), _GREEK[1], strict=True)),
}


def read_symbol(symbol: Any) -> str:
    """Return the character of an element `sym`; of a font of pictures, a replacement character."""
    code = int(symbol.get(f"{W}char", "FFFD"), 16)
    place = code - 0xF000 if 0xF000 <= code < 0xF100 else code
    if symbol.get(f"{W}font") == "Symbol":
        return _SIGNS.get(place, chr(place) if place < 0x7F else "\ufffd")
    return chr(code) if code < 0xE000 else "\ufffd"
