"""Reading text as people see it: letters that only look like Latin ones become those, and invisible characters go."""

import re
import unicodedata

from retrieval.untrusted.invisible import remove_invisible

# Letters of other scripts and widths that look like Latin ones. Each maps to one character, so that offsets stay right.
_LOOKALIKES = dict(
    zip(
        "аеорсухіјѕԁһԛԝАВЕКМНОРСТУХІЈЅοαενικτυρΑΒΕΖΗΙΚΜΝΟΡΤΥΧıℓ’‘ʼ",
        "aeopcyxijsdhqwABEKMHOPCTYXIJSoaeviktupABEZHIKMNOPTYXil'''",
        strict=True,
    )
)
_FULL_WIDTH = {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F) if chr(code) not in "，；：！？（）"} | {
    "\u3000": " "
}
_LATIN = _LOOKALIKES | _FULL_WIDTH
_DISGUISED = re.compile(f"[{''.join(_LATIN)}]")


def to_plain(text: str) -> str:
    """Return the text in lower case, without invisible characters and look-alikes."""
    return fold_letters(unicodedata.normalize("NFC", remove_invisible(text))).lower()


def fold_letters(text: str) -> str:
    """Replace each letter that looks like a Latin one by that."""
    return _DISGUISED.sub(lambda found: _LATIN[found.group()], text)
