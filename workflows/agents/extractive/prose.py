"""What a model wrote in a finding, when the extractive writer finishes a run that models began: only paragraphs that cite a
stored quote."""

from app.domain.citations import MARKER
from app.domain.evidence import Finding


def model_prose(finding: Finding) -> list[str]:
    """The paragraphs of a model's answer that cite one of its quotes; none for a finding made without a model."""
    if finding.usage.model_calls == 0:
        return []
    keys = {quote.key for quote in finding.quotes}
    paragraphs = [" ".join(block.split()) for block in finding.answer.split("\n\n")]
    return [block.lstrip("# ") for block in paragraphs if any(key.strip() in keys for key in MARKER.findall(block))]
