"""The unpacking of a body piece by piece, so that the reader can stop at a limit and a decompression bomb does no harm."""

import zlib
from collections.abc import Iterator
from typing import Protocol

from retrieval.fetch.errors import PageRefused

ACCEPTED = "gzip, deflate, br"
STEP = 1 << 16
MAX_CODINGS = 2


class Unpacker(Protocol):
    """The unpacking of one coding. Its pieces have at most about 64 KiB."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the unpacked pieces of `data`; the caller may stop at any piece."""
        ...

    def finish(self) -> None:
        """End the body. Raises `PageRefused` when it is incomplete."""
        ...


class PlainUnpacker:
    """The identity coding."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the same bytes."""
        yield data

    def finish(self) -> None:
        """Accept any end."""


class ZlibUnpacker:
    """gzip, or deflate in either of the two forms that servers send."""

    def __init__(self, gzip: bool) -> None:
        self._gzip = gzip
        self._stream = zlib.decompressobj(16 + zlib.MAX_WBITS) if gzip else None

    def feed(self, data: bytes) -> Iterator[bytes]:
        """See `Unpacker.feed`."""
        if self._stream is not None and self._stream.eof:
            data = self._next_member(data)
        while data:
            stream = self._start_stream(data)
            try:
                piece = stream.decompress(data, STEP)
            except zlib.error as error:
                raise PageRefused("the page is damaged: it cannot be unpacked") from error
            data = stream.unconsumed_tail
            if piece:
                yield piece
            if stream.eof:
                data = self._next_member(stream.unused_data)

    def finish(self) -> None:
        """See `Unpacker.finish`."""
        if self._stream is not None and not self._stream.eof:
            raise PageRefused("the page is damaged: it ends in the middle")

    def _start_stream(self, data: bytes) -> "zlib._Decompress":
        """Return the stream. A deflate body begins with a zlib header, or, from old servers, without one."""
        if self._stream is None:
            wrapped = data[0] & 0x0F == 8 and (len(data) < 2 or (data[0] * 256 + data[1]) % 31 == 0)
            self._stream = zlib.decompressobj(zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS)
        return self._stream

    def _next_member(self, rest: bytes) -> bytes:
        """Begin the next gzip member if `rest` has one, and return the bytes to unpack. Other trailing bytes are padding."""
        if self._gzip and rest.startswith(b"\x1f\x8b"):
            self._stream = zlib.decompressobj(16 + zlib.MAX_WBITS)
            return rest
        return b""


class BrotliUnpacker:
    """The Brotli coding."""

    def __init__(self) -> None:
        import brotli

        self._stream = brotli.Decompressor()
        self._error = brotli.error

    def feed(self, data: bytes) -> Iterator[bytes]:
        """See `Unpacker.feed`."""
        try:
            piece = self._stream.process(data, output_buffer_limit=STEP)
            while piece:
                yield piece
                piece = self._stream.process(b"", output_buffer_limit=STEP) if not self._stream.is_finished() else b""
        except self._error as error:
            raise PageRefused("the page is damaged: it cannot be unpacked") from error

    def finish(self) -> None:
        """See `Unpacker.finish`."""
        if not self._stream.is_finished():
            raise PageRefused("the page is damaged: it ends in the middle")


class UnpackerChain:
    """One coding inside another."""

    def __init__(self, outer: Unpacker, inner: Unpacker) -> None:
        self._outer, self._inner = outer, inner

    def feed(self, data: bytes) -> Iterator[bytes]:
        """See `Unpacker.feed`."""
        for piece in self._outer.feed(data):
            yield from self._inner.feed(piece)

    def finish(self) -> None:
        """See `Unpacker.finish`."""
        self._outer.finish()
        self._inner.finish()


def build_unpacker(content_encoding: str) -> Unpacker:
    """Build the unpacker of a `Content-Encoding` header. Raises `PageRefused` for codings not asked for, and for too many."""
    names = [name.strip().lower() for name in content_encoding.split(",") if name.strip()]
    if len(names) > MAX_CODINGS:
        raise PageRefused("the page is compressed too many times")
    built: Unpacker = PlainUnpacker()
    for name in names:  # listed in the order of packing, so the last is the outermost
        built = UnpackerChain(_unpacker_of(name), built)
    return built


def _unpacker_of(name: str) -> Unpacker:
    match name:
        case "identity":
            return PlainUnpacker()
        case "gzip" | "x-gzip":
            return ZlibUnpacker(gzip=True)
        case "deflate":
            return ZlibUnpacker(gzip=False)
        case "br":
            return BrotliUnpacker()
    raise PageRefused("the page is compressed in a way that was not asked for")
