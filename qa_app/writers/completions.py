"""Read a chat completion: a whole body, or the lines of a stream as they come."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from qa_app.writers.records import ServerFailed

_REFUSED = ("content_filter", "refusal")
_DONE = "[DONE]"


@dataclass(slots=True)
class Completion:
    """A reply as far as it has been received; another thread may read it meanwhile."""

    text: str = ""
    ended: str | None = None
    """The server's reason for the end; None where none came."""
    is_refused: bool = False
    is_stopped: bool = False
    """True where the reader had enough and closed the connection."""
    usage: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        """Tell whether the model ended the reply itself, or the reader did."""
        return self.is_stopped or self.ended not in (None, "length", *_REFUSED)

    def read_body(self, body: bytes) -> None:
        """Read a whole response. Raises ServerFailed."""
        parsed = _json(body)
        try:
            choice = parsed["choices"][0]
            self._take(choice["message"], choice)
            self._count(parsed.get("usage"))
        except (LookupError, TypeError, AttributeError) as error:
            raise _unreadable() from error
        self.ended = self.ended or "stop"

    def read_line(self, line: str) -> None:
        """Read one line of a stream: a piece of the reply, its end, or a count of tokens. Raises ServerFailed."""
        name, _, data = line.partition(":")
        if name == "error":
            raise _broke_off()
        if name != "data" or data.strip() == _DONE:
            return
        parsed = _json(data)
        try:
            if "error" in parsed:
                raise _broke_off()
            self._count(parsed.get("usage"))
            for choice in (parsed.get("choices") or [])[:1]:
                self._take(choice.get("delta") or {}, choice)
        except (LookupError, TypeError, AttributeError) as error:
            raise _unreadable() from error

    def _take(self, said: Mapping[str, Any], choice: Mapping[str, Any]) -> None:
        if isinstance(piece := said.get("content"), str):
            self.text += piece
        self.is_refused = self.is_refused or bool(said.get("refusal"))
        if isinstance(ended := choice.get("finish_reason"), str):
            self.ended = ended
            self.is_refused = self.is_refused or ended in _REFUSED

    def _count(self, used: object) -> None:
        if isinstance(used, dict):
            self.usage = used


def _json(received: str | bytes) -> Any:
    try:
        return json.loads(received)
    except (ValueError, RecursionError) as error:
        raise _unreadable() from error


def _unreadable() -> ServerFailed:
    return ServerFailed("unreadable", "The language model's server sent no completion.", again=True)


def _broke_off() -> ServerFailed:
    return ServerFailed("unavailable", "The language model's server broke off with an error.", again=True)
