"""Tell whether a model's server refuses because the account behind the key is used up. Waiting does not fill it."""

import re

TOP_UP = "the account behind RUBRICA_LLM_API_KEY is used up: top it up or raise its limit"
_USED_UP = re.compile(r"insufficient.{0,9}(quota|balance|credit|fund)|out of credit|billing.{0,9}limit", re.IGNORECASE)
_UNPAID = re.compile(r"quota|insufficient.{0,9}(balance|credit|fund)|billing|payment", re.IGNORECASE)


def is_account_empty(status: int, said: str) -> bool:
    """Tell it from a refusal. With 429, a mere "quota" may be that of a minute."""
    return status == 402 or (status == 403 and bool(_UNPAID.search(said))) or (status == 429 and says_account_empty(said))


def says_account_empty(said: str) -> bool:
    """Tell it from words alone."""
    return bool(_USED_UP.search(said))
