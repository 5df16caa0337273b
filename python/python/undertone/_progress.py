"""How far a call is: a callback, a bar, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Union

#: ``True`` for a bar of tqdm, a bar of one's own, or a function of how much is done of how much.
Progress = Union[bool, Callable[[int, int], Any], Any, None]


@contextmanager
def told(progress: Progress, what: str) -> Iterator[Callable[[int, int], Any] | None]:
    """The callback that this stands for; a bar of ours is closed at the end."""
    if progress is None or progress is False:
        yield None
    elif progress is True:
        try:
            from tqdm.auto import tqdm
        except ImportError as error:
            raise ImportError("progress=True draws a bar with tqdm, which is missing: pip install tqdm") from error
        with tqdm(desc=what, leave=False) as bar:
            yield _moves(bar)
    elif hasattr(progress, "update") and hasattr(progress, "n"):
        yield _moves(progress)
    elif callable(progress):
        yield progress
    else:
        raise TypeError("progress is True, a bar of tqdm or a function of (done, total)")


def _moves(bar: Any) -> Callable[[int, int], None]:
    def move(done: int, total: int) -> None:
        if bar.total != total:
            bar.total = total
        bar.update(done - bar.n)

    return move
