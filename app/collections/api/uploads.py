"""Read files from a multipart body while they arrive. Nothing is held in memory."""

from collections.abc import AsyncIterator

from multipart import MultipartError, MultipartSegment, PushMultipartParser, parse_options_header

from app.collections.service.collections import FileBegin, FileEnd, UploadPart
from app.domain.errors import InvalidInput
from app.http.dependencies import ApiRequest

MOST_PARTS = 200


async def files_of(request: ApiRequest) -> AsyncIterator[UploadPart]:
    """Yield the files of a request, one after another; fields without a file name are left out.

    Raises:
        InvalidInput: the body is not `multipart/form-data`, is malformed, or broke off.
    """
    kind, options = parse_options_header(request.headers.get("Content-Type", ""))
    if kind != "multipart/form-data" or not options.get("boundary"):
        raise InvalidInput("send the files as multipart/form-data, each part with a filename")
    inside = False
    try:
        parser = PushMultipartParser(options["boundary"], max_segment_count=MOST_PARTS)
        with parser:
            async for chunk in request.stream():
                for event in parser.parse(chunk):
                    if isinstance(event, MultipartSegment):
                        inside = bool(event.filename)
                        if inside:
                            yield FileBegin(str(event.filename))
                    elif inside:
                        yield FileEnd() if event is None else bytes(event)
    except MultipartError as error:
        raise InvalidInput(f"the body is not a well-formed multipart/form-data: {error}") from error
