"""The OpenAI-compatible API, for clients that already speak it: Responses, Chat Completions, Models.

Nothing is stored here: a response is a reading of a run, and its stream a reading of the run's log.
"""
