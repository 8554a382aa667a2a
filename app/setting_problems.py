"""What is wrong with a setting, in words that tell what to change."""

import difflib
from collections.abc import Sequence
from typing import Any

# Values of settings with these endings are never shown.
SECRET_ENDINGS = ("api_key", "password", "secret")


def explain_unknown(prefix: str, name: str, known: Sequence[str]) -> str:
    """Say that there is no setting of this name, and which one is near."""
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {prefix}{near[0]}?" if near else "docs/settings.md lists those there are"
    return f"{prefix}{name} is not a setting; {hint}"


def explain_malformed(prefix: str, detail: Any) -> str:
    """Say why a value is refused (`detail` is an error of pydantic); values of secrets are not repeated."""
    reason = str(detail["msg"]).removeprefix("Value error, ")
    if not detail["loc"]:
        return reason
    name = str(detail["loc"][0])
    value = "" if name.endswith(SECRET_ENDINGS) or "database" in name else f" (it is {str(detail['input'])[:80]!r})"
    return f"{prefix}{name.upper()} is malformed: {reason}{value}"
