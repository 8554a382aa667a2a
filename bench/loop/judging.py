"""The judge of the exam: a stand-in for a model that looks at a report as the planted readers do.

It knows a demand by its very words, and shares nothing with the rules that reward the training.
"""

import json

from bench.learning_tasks.rubric_grammar import DEMANDS
from bench.loop.plant import FEATURES, see_features
from tests.support.model_stub_answers import StubPrompt

JUDGE = "reader"
MATCHES, UNKNOWN, MISSES = 10, 5, 1


def judge_as_reader(prompt: StubPrompt) -> str | None:
    """Rate how far the report matches the description, where that is asked; None for every other step."""
    if prompt.step != "criterion":
        return None
    report, _, described = prompt.last.rpartition("</report>")
    asked = [name for name in FEATURES if DEMANDS[name] in described]
    if len(asked) != 1:
        return json.dumps({"reason": "nobody could see that", "sentences": [], "rating": UNKNOWN})
    seen = asked[0] in see_features(report.partition("<report>")[2])
    return json.dumps({"reason": "looked at", "sentences": [], "rating": MATCHES if seen else MISSES})
