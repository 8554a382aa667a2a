"""The API in OpenAI's words, for clients that already speak it: Responses, Chat Completions, Models.

Nothing is kept here: a response is a reading of a run, its stream a reading of the run's log.
"""
