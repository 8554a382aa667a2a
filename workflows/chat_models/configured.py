"""The models that the settings name."""

from dataclasses import replace

from app.settings import Settings
from workflows.chat_models.endpoint import ModelEndpoint, ModelPrices


def endpoint_of(settings: Settings) -> ModelEndpoint | None:
    """Return the endpoint of the model; None if no model is configured."""
    if settings.llm_base_url is None or settings.llm_model is None:
        return None
    return ModelEndpoint(
        base_url=settings.llm_base_url,
        model=settings.llm_model,
        api_key=settings.llm_api_key.get_secret_value() if settings.llm_api_key else "",
        prices=ModelPrices(settings.llm_input_price, settings.llm_output_price),
        stream=settings.llm_stream,
    )


def judge_of(settings: Settings) -> ModelEndpoint | None:
    """Return the endpoint of the judge of evaluations: its own, or else that of the systems' model; None without either."""
    main = endpoint_of(settings)
    if settings.eval_judge_model is None:
        return main
    prices = ModelPrices(settings.eval_judge_input_price, settings.eval_judge_output_price)
    if settings.eval_judge_base_url is None:
        return replace(main, model=settings.eval_judge_model, prices=prices) if main else None
    key = settings.eval_judge_api_key
    return ModelEndpoint(
        base_url=settings.eval_judge_base_url,
        model=settings.eval_judge_model,
        api_key=key.get_secret_value() if key else "",
        prices=prices,
        stream=settings.llm_stream,
    )
