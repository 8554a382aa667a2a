"""The text of an answer while it is sampled: in pieces of whole characters, up to the first stop string."""

from collections.abc import Callable, Sequence

from training.serving.prompt_format import PromptFormat

HALF = "\ufffd"
"""What stands in a decoded text for bytes that are no whole character."""


class AnswerText:
    """Reads an answer id by id. `hear` gets its text in pieces that together are `text`.

    What may be the beginning of a stop string is held back until it is known to be none. `stopped_by` is the stop string that
    ended the answer; it is no part of the text.
    """

    def __init__(self, format_: PromptFormat, stops: Sequence[str], hear: Callable[[str], object]) -> None:
        self._format = format_
        self._stops = stops
        self._held_back = max(map(len, stops), default=1) - 1
        self._hear = hear
        self._ids: list[int] = []
        self._before, self._read = 0, 0
        self._told = 0
        self.text = ""
        self.stopped_by: str | None = None

    def follow(self, id_: int) -> bool:
        """Take the next id, and say whether the answer goes on. It is called in the generating thread."""
        if id_ == self._format.stop_id:
            return True
        self._ids.append(id_)
        self._take(self._read_new())
        return self.stopped_by is None

    def end(self, ids: Sequence[int]) -> None:
        """Take what was held back of an answer of these ids, the stop id not among them."""
        if self.stopped_by is None:
            whole = self._format.template.decode(ids)
            self._take(whole[len(self.text) :] if whole.startswith(self.text) else "")
        self._tell(len(self.text))

    def _read_new(self) -> str:
        """Return the text of the ids that are not read yet; empty while they end within a character.

        They are decoded behind those that were read last, since some tokenizers leave out the space before a first word.
        """
        decode = self._format.template.decode
        known, now = decode(self._ids[self._before : self._read]), decode(self._ids[self._before :])
        if now.endswith(HALF):
            return ""
        self._before, self._read = self._read, len(self._ids)
        return now[len(known) :]

    def _take(self, piece: str) -> None:
        begin = max(0, len(self.text) - self._held_back)
        self.text += piece
        found = [(place, stop) for stop in self._stops if (place := self.text.find(stop, begin)) >= 0]
        if found:
            place, self.stopped_by = min(found)
            self.text = self.text[:place]
        self._tell(len(self.text) - (0 if found else self._held_back))

    def _tell(self, end: int) -> None:
        if end > self._told:
            self._hear(self.text[self._told : end])
            self._told = end
