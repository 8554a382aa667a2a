"""A probe of a served model: one request in its notation, as the product asks it."""

from datetime import date

from app.domain.errors import ModelUnusable
from app.domain.query import ResearchQuery
from app.domain.served_models import Notation, ServedModel
from workflows.agents.codec import SchemaCodec, TagCodec
from workflows.agents.kit import Kit
from workflows.chat_models.endpoint import ModelEndpoint
from workflows.chat_models.openai_compatible import connect_model
from workflows.judging.rubric_generation import RUBRIC, RUBRIC_AGENT, render_rubric_messages
from workflows.prompts.library import PromptLibrary
from workflows.systems.local_record import USUAL_PATIENCE, LocalRecord, OutagePatience

QUESTION = "Which sources say how the harbour of a town paid for its lighthouse?"


async def probe_model(endpoint: ModelEndpoint, model: ServedModel, patience: OutagePatience = USUAL_PATIENCE) -> None:
    """Ask for one short answer. What it says is judged by the exam and the gate; here it must say something at all.

    An outage is waited out as long as the `patience` says.

    Raises:
        ModelUnavailable, ModelRefused: the server does not answer for this model.
        ModelUnusable: its answer is empty.
    """
    codec = TagCodec() if model.notation is Notation.TAGS else SchemaCodec()
    async with connect_model(endpoint) as chat:
        record = LocalRecord("probe", patience=patience)
        kit = Kit(chat, {}, record, PromptLibrary.load(), codec, date(2026, 1, 1), lambda: 0.0)
        messages = render_rubric_messages(ResearchQuery(question=QUESTION), kit)
        completion = await record.ask(RUBRIC_AGENT, RUBRIC.name, chat, codec.make_request(RUBRIC, messages))
    if not completion.text.strip():
        raise ModelUnusable(f"{model.name} answers with nothing")
