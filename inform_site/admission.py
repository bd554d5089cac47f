"""How many requests are worked at, how many wait, and which are refused at once."""

from __future__ import annotations

import asyncio
from collections import deque


class Gate:
    """A limited number of places in one event loop, with a short queue before them."""

    def __init__(self, *, places: int, queue: int, seconds: float) -> None:
        self._free = places
        self._queue = queue
        self._seconds = seconds
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def is_full(self) -> bool:
        return len(self._waiting) >= self._queue

    async def enter(self) -> bool:
        """Wait for a place; False where the queue is full or the wait too long. Call `leave` after True."""
        if self._free:
            self._free -= 1
            return True
        if self.is_full:
            return False
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            async with asyncio.timeout(self._seconds):
                await turn
        except BaseException as error:
            if turn.done() and not turn.cancelled():
                self.leave()  # the place came at the same moment
            elif turn in self._waiting:
                self._waiting.remove(turn)
            if isinstance(error, TimeoutError):
                return False
            raise
        return True

    def leave(self) -> None:
        """Give the place to the next in the queue."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
