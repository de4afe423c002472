"""The messages of a game: what was asked, answered and played, as much of it as a model's context has room for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from agents.llm.protocol import Message

_FIRST_TOKENS_PER_CHARACTER: Final = 0.4
"""Until a server has said how many tokens a request had: more than the texts of this game ever take."""
_KEPT_SHARE: Final = 0.8
"""What is kept of the room when something has to go. Going below it lets many requests begin alike, which is cheap
where an endpoint caches the beginning of a prompt."""
_MARGIN: Final = 0.95
"""The share of the room that an estimate may fill."""
_MESSAGE_CHARACTERS: Final = 24
"""What a message takes beside its texts."""


@dataclass(slots=True)
class Exchange:
    """A decision: the text that put it before the model, then replies and answers in turn."""

    opening: str
    messages: list[Message] = field(default_factory=list)

    def size(self) -> int:
        """Characters."""
        return len(self.opening) + _MESSAGE_CHARACTERS + sum(map(_size, self.messages))


class Conversation:
    """What a model is sent: the system prompt and the exchanges still kept, the last of which is being had.

    Every sequence of messages that it gives is one that strict endpoints accept: each tool call is answered right after
    it, no tool message is without its call, and apart from tool messages user and assistant take turns. ``room`` is the
    most tokens that a request may have, ``fixed`` the characters that a request has beside its messages.
    """

    def __init__(self, system: str, room: int, fixed: int) -> None:
        self._system: Message = {"role": "system", "content": system}
        self._fixed = fixed
        self._room = room
        self._rate = _FIRST_TOKENS_PER_CHARACTER
        self._exchanges: list[Exchange] = []
        self._sizes: list[int] = []

    def open(self, text: str) -> None:
        """A new decision, put before the model with ``text``."""
        if self._exchanges:
            self._sizes[-1] = self._exchanges[-1].size()
        self._exchanges.append(Exchange(text))
        self._sizes.append(0)

    def forget(self) -> None:
        """Drop all exchanges."""
        self._exchanges.clear()
        self._sizes.clear()

    def add(self, messages: Sequence[Message]) -> None:
        """More of the current exchange: a reply with its answers."""
        self._exchanges[-1].messages.extend(messages)

    def note(self, text: str) -> None:
        """Add ``text`` to the last answer of the current exchange, which has not been sent yet."""
        messages = self._exchanges[-1].messages
        if messages:
            messages[-1] = _with_text(messages[-1], text)

    def messages(self) -> tuple[Message, ...]:
        """The messages to send now, the oldest exchanges dropped whole where they would not fit."""
        if self.estimate() > self._room * _MARGIN:
            self._drop_to(self._room * _MARGIN * _KEPT_SHARE)
        return self._written()

    def estimate(self) -> float:
        """About how many tokens a request with all that is kept has."""
        return self._rate * self._characters()

    def learn(self, tokens: int) -> None:
        """The server counted ``tokens`` in the request that :meth:`messages` gave last."""
        if tokens > 0:
            self._rate = tokens / self._characters()

    def cut(self) -> bool:
        """Drop at least half after a request turned out too long; false where only the current exchange is left."""
        estimate = self.estimate()
        self._room = min(self._room, int(estimate * _MARGIN))
        before = len(self._exchanges)
        self._drop_to(estimate / 2)
        return len(self._exchanges) < before

    def _characters(self) -> int:
        self._sizes[-1] = self._exchanges[-1].size()
        return self._fixed + _size(self._system) + sum(self._sizes)

    def _drop_to(self, tokens: float) -> None:
        while len(self._exchanges) > 1 and self.estimate() > tokens:
            del self._exchanges[0], self._sizes[0]

    def _written(self) -> tuple[Message, ...]:
        written = [self._system]
        for exchange in self._exchanges:
            # After an answer the next decision is told in the same message: some endpoints take no user message after
            # a tool's, and none likes two of one role in a row.
            if len(written) > 1 and written[-1]["role"] != "assistant":
                written[-1] = _with_text(written[-1], exchange.opening)
            else:
                written.append({"role": "user", "content": exchange.opening})
            written.extend(exchange.messages)
        return tuple(written)


def _with_text(message: Mapping[str, Any], text: str) -> Message:
    return {**message, "content": f"{message['content']}\n\n{text}"}


def _size(message: Mapping[str, Any]) -> int:
    size = _MESSAGE_CHARACTERS
    for value in message.values():
        size += len(value) if isinstance(value, str) else 0 if value is None else _nested_size(value)
    return size


def _nested_size(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(len(key) + _nested_size(item) for key, item in value.items())
    return sum(map(_nested_size, value)) if isinstance(value, list | tuple) else 4
