"""Read files from a multipart body while they arrive. Nothing is held in memory; a silent client is cut off."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

from multipart import MultipartError, MultipartSegment, PushMultipartParser, parse_options_header

from app.collections.service.collections import FileBegin, FileEnd, UploadPart
from app.domain.errors import InvalidInput
from app.http.dependencies import ApiRequest

SILENCE = timedelta(seconds=60)
MOST_PARTS = 200


async def files_of(request: ApiRequest) -> AsyncIterator[UploadPart]:
    """Yield the files of a request, one after another; fields without a file name are left out.

    Raises:
        InvalidInput: the body is not `multipart/form-data`, is malformed, or stopped coming.
    """
    kind, options = parse_options_header(request.headers.get("Content-Type", ""))
    if kind != "multipart/form-data" or not options.get("boundary"):
        raise InvalidInput("send the files as multipart/form-data, each part with a filename")
    inside = False
    try:
        parser = PushMultipartParser(options["boundary"], max_segment_count=MOST_PARTS)
        with parser:
            async for chunk in _read_chunks(request):
                for event in parser.parse(chunk):
                    if isinstance(event, MultipartSegment):
                        inside = bool(event.filename)
                        if inside:
                            yield FileBegin(str(event.filename))
                    elif inside:
                        yield FileEnd() if event is None else bytes(event)
    except MultipartError as error:
        raise InvalidInput(f"the body is not a well-formed multipart/form-data: {error}") from error


async def _read_chunks(request: ApiRequest) -> AsyncIterator[bytes]:
    stream = aiter(request.stream())
    while True:
        try:
            async with asyncio.timeout(SILENCE.total_seconds()):
                yield await anext(stream)
        except StopAsyncIteration:
            return
        except TimeoutError as error:
            raise InvalidInput(f"nothing came for {SILENCE.total_seconds():g} seconds; send the files again") from error
