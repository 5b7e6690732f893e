"""Whose turn it is: owners in turn, and within one owner in order of arrival."""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

Item = TypeVar("Item")

_REMEMBERED_OWNERS = 1000


class FairQueue(Generic[Item]):
    """The waiting owner whose last turn is longest ago comes next. Not locked: the user of it is."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[Item]] = {}
        self._last_turn: dict[str, float] = {}
        self._turn = 0

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def push(self, owner: str, item: Item) -> None:
        self._waiting.setdefault(owner, deque()).append(item)
        # A newcomer stands behind those who waited before, and before the one who had the last turn.
        self._last_turn.setdefault(owner, self._turn - 0.5)

    def pop(self) -> Item:
        """The next item; IndexError if none waits."""
        if not self._waiting:
            raise IndexError("the queue is empty")
        owner = min(self._waiting, key=self._last_turn.__getitem__)
        items = self._waiting[owner]
        item = items.popleft()
        if not items:
            del self._waiting[owner]
        self._turn += 1
        self._last_turn[owner] = self._turn
        self._forget()
        return item

    def remove(self, owner: str, item: Item) -> bool:
        """Take the item out; False if it does not wait."""
        items = self._waiting.get(owner, deque())
        if item not in items:
            return False
        items.remove(item)
        if not items:
            del self._waiting[owner]
        return True

    def _forget(self) -> None:
        """Owners are sessions and come without end: drop those that had their last turn longest ago."""
        if len(self._last_turn) > 2 * _REMEMBERED_OWNERS:
            idle = sorted(set(self._last_turn) - set(self._waiting), key=self._last_turn.__getitem__)
            for owner in idle[:-_REMEMBERED_OWNERS]:
                del self._last_turn[owner]
