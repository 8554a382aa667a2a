"""Write the API's log: each line that is written while a request is answered has the request's id."""

import logging
from contextvars import ContextVar

CURRENT_REQUEST: ContextVar[str] = ContextVar("request_id", default="-")
FORMAT = "%(asctime)s %(levelname)s %(name)s [%(request_id)s]: %(message)s"


class RequestIds(logging.Filter):
    """A filter that adds the id of the current request to each record; `-` outside of requests."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass."""
        record.request_id = CURRENT_REQUEST.get()
        return True


def configure() -> None:
    """Log to standard error, for a process that is the API."""
    handler = logging.StreamHandler()
    handler.addFilter(RequestIds())
    logging.basicConfig(level=logging.INFO, format=FORMAT, handlers=[handler])
