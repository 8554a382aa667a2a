"""A language model as judge that knows the truth of every pair: what still passes for supported is the product's doing."""

import json
import re
from collections.abc import Sequence
from datetime import date

from app.domain.chat import ChatRequest
from app.domain.claims import Support
from app.domain.query import Language
from bench.claim_pairs.pairs import ClaimPair
from bench.verdict_counts import JudgedPair, combine_verdicts, draft_pair
from workflows.agents.codec import SchemaCodec
from workflows.agents.kit import Kit
from workflows.chat_models.scripted import ScriptedAnswer, ScriptedModel
from workflows.judging.model_look import look_by_model
from workflows.prompts.library import PromptLibrary
from workflows.systems.local_record import LocalRecord

AT_ONCE = 25
_CLAIM = re.compile(r'<s id="(\d+)"[^>]*>(.*?)</s>')


async def judge_by_truth(pairs: Sequence[ClaimPair]) -> list[JudgedPair]:
    """Judge the pairs with this model as the second judge, 25 at once."""
    judged: list[JudgedPair] = []
    for language in Language:
        of = [pair for pair in pairs if pair.language is language]
        for start in range(0, len(of), AT_ONCE):
            judged += await _judge_section(of[start : start + AT_ONCE], language)
    return judged


async def _judge_section(pairs: Sequence[ClaimPair], language: Language) -> list[JudgedPair]:
    placed = [draft_pair(pair, number) for number, pair in enumerate(pairs)]
    sections, drafts = [section for section, _ in placed], [own for _, own in placed]
    truth = {draft.sentence.text: pair.right for pair, own in zip(pairs, drafts, strict=True) for draft in own}
    seen, _ = await look_by_model(sections, [draft for own in drafts for draft in own], _make_kit(truth, language), None)
    rest = iter(seen)
    return [combine_verdicts(pair, [next(rest) for _ in own]) for pair, own in zip(pairs, drafts, strict=True)]


def _make_kit(truth: dict[str, bool], language: Language) -> Kit:
    def answer(request: ChatRequest) -> ScriptedAnswer:
        claims = _CLAIM.findall(request.messages[-1].content)
        right = {int(number): truth.get(text, False) for number, text in claims}
        doubts = [{"id": number, "verdict": Support.NONE, "reason": "known"} for number, holds in right.items() if not holds]
        return json.dumps({"full": [{"id": number, "by": []} for number, holds in right.items() if holds], "others": doubts})

    chat, prompts = ScriptedModel(answer), PromptLibrary.load()
    return Kit(chat, {}, LocalRecord("told"), prompts, SchemaCodec(), date(2026, 1, 1), lambda: 0.0, language=language)
