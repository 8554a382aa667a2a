"""A chat model that samples a policy by token ids and keeps them. Nothing that was sampled is tokenised again."""

import hashlib
from array import array
from collections import Counter

from app.domain.budget import Usage
from app.domain.chat import ChatRequest, Completion, SampledTokens
from app.domain.errors import ContextTooLong, ModelRefused
from training.rollouts.chat_template import ChatTemplate
from training.rollouts.conversations import Conversations, Prompt
from training.rollouts.engine import Engine, Sample, SamplingSettings


class Sampler:
    """The policy as agents see it, for one rollout; samplers of many rollouts share an engine and a template.

    A request that begins with a conversation it knows (the same messages, then the policy's answer exactly as sampled) goes on
    with that conversation's ids; any other begins anew. A conversation is continued once, so that each sampled id is trained
    once. `context` is the most tokens of a conversation with its answer: the trained length. Answers come from the engine and
    never from a cache, since a group of equal requests would be one sample many times.

    Raises (from `complete`):
        ContextTooLong: the conversation fills the trained length; for an agent's loop, a reason to stop.
        ModelRefused: the request asks for a schema or for stop words. A policy in training is asked in tags (`TagCodec`).
        ModelUnavailable: from the engine.
    """

    def __init__(self, engine: Engine, template: ChatTemplate, settings: SamplingSettings, context: int) -> None:
        self._engine = engine
        self._template = template
        self._settings = settings
        self._context = context
        self._conversations = Conversations(template)
        self._asked: Counter[bytes] = Counter()

    @property
    def name(self) -> str:
        """The policy's name."""
        return self._engine.name

    async def complete(self, request: ChatRequest) -> Completion:
        """Sample one answer. Its tokens are in `sampled`."""
        if request.response_schema is not None or request.stop:
            raise ModelRefused("a policy in training is asked in tags: give its kit a TagCodec, and no stop words")
        prompt = self._conversations.open_prompt(request.messages)
        version = self._engine.policy_version
        try:
            sample = await self._sample(prompt, request)
        except BaseException:
            self._conversations.drop_prompt(prompt)
            raise
        ended = sample.ids[-1] in self._settings.stop_ids
        text = self._template.decode(sample.ids[:-1] if ended else sample.ids)
        self._conversations.keep_answer(prompt, text, sample.ids)
        return Completion(
            text=text,
            model=self.name,
            finish_reason=sample.finish,
            usage=Usage(model_calls=1, input_tokens=len(prompt.ids), output_tokens=len(sample.ids)),
            sampled=SampledTokens(
                conversation=prompt.chain.name,
                carried=prompt.carried,
                prompt_ids=prompt.new_ids,
                completion_ids=sample.ids,
                logprobs=sample.logprobs,
                policy_version=version,
            ),
        )

    async def _sample(self, prompt: Prompt, request: ChatRequest) -> Sample:
        room = self._context - len(prompt.ids)
        if room < 1:
            raise ContextTooLong(f"the conversation has {len(prompt.ids)} tokens; the trained length is {self._context}")
        most = min(room, request.max_tokens, self._settings.most_tokens)
        digest = hashlib.sha256(array("q", prompt.ids).tobytes()).digest()
        seed = self._derive_seed(digest, request.seed)
        sample = await self._engine.sample(prompt.ids, most, self._settings, seed)
        self._asked[digest] += 1
        return sample

    def _derive_seed(self, digest: bytes, wanted: int | None) -> int | None:
        """Return this call's seed: another for each prompt, and each time that the same prompt is asked."""
        if self._settings.seed is None:
            return None
        told = f"{self._settings.seed} {wanted} {self._asked[digest]} ".encode() + digest
        return int.from_bytes(hashlib.sha256(told).digest()[:4], "big")
