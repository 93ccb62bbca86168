"""Functions that the library calls: what they raise, and Ctrl-C, end the call."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ._library import Error, ErrorCode

if TYPE_CHECKING:
    from typing_extensions import Self


class Callbacks:
    """Keeps what the functions raise, which cannot pass through the library, and raises it at the end of the context.

    Ctrl-C is kept, too: Python would raise it where a function that the library calls begins, outside any `try`.
    """

    def __init__(self) -> None:
        self._raised: BaseException | None = None
        self._interrupt: tuple[Any, ...] = ()
        self._handler: Any = None

    @property
    def ended(self) -> int:
        """Not 0, for the library, if the call is to end."""
        return int(self._raised is not None or bool(self._interrupt))

    def run(self, function: Callable[..., object], *arguments: Any) -> int:
        """Calls the function, unless the call is to end. Returns `ended`."""
        if not self.ended:
            try:
                function(*arguments)
            except BaseException as exception:
                self._raised = exception
        return self.ended

    def _keep(self, *interrupt: Any) -> None:
        self._interrupt = interrupt

    def __enter__(self) -> Self:
        # Other threads get no signals. A handler that is none of Python's stays.
        if threading.current_thread() is threading.main_thread() and callable(signal.getsignal(signal.SIGINT)):
            self._handler = signal.signal(signal.SIGINT, self._keep)
        return self

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None) -> None:
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
        if error is not None and not (isinstance(error, Error) and error.code == ErrorCode.CANCELLED):
            return
        if self._raised is not None:
            raise self._raised from None
        if self._interrupt:
            try:
                self._handler(*self._interrupt)
            except BaseException as interrupt:
                raise interrupt from None
