"""The API in OpenAI's words, for clients that already speak it: Responses, Chat Completions, Models.

Nothing is kept here: a response is a reading of a run, its stream a reading of the run's log.
"""

from app.openai import chat_objects, errors, objects, requests

# What the OpenAPI document describes.
SCHEMAS = (
    *(requests.NewResponse, requests.NewChatCompletion, objects.Response, objects.StreamEvent, objects.ModelObject),
    *(objects.ModelList, chat_objects.ChatCompletion, chat_objects.ChatChunk, errors.OpenAIErrorBody),
)
