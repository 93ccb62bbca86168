"""Runs in flight."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from ._library import Handle, call, library

Outputs = TypeVar("Outputs")
SLICE_MS = 50  # how long a wait keeps Python from seeing Ctrl-C


class Run(Handle, Generic[Outputs]):
    """An inference that Session.submit() has begun. It may outlive its session. For any thread."""

    def __init__(self, read: Callable[[Run[Any]], Outputs], wait_limit_ms: int, keep: object) -> None:
        """Holds nothing before _make(). `read` returns the outputs of the run when it is done."""
        super().__init__(library.vellum_run_destroy, keep)
        self._read = read
        self._outputs: Outputs | None = None
        self._wait_limit = wait_limit_ms / 1000 or float("inf")
        self._lock = threading.Lock()  # the library takes one thread at a time, except to cancel

    def done(self) -> bool:
        """Returns whether result() would return at once. Does not wait."""
        done = ctypes.c_int32()
        with self._lock:
            call(library.vellum_run_done, self, ctypes.byref(done))
        return bool(done)

    def result(self, timeout: float | None = None) -> Outputs:
        """Waits for this run and earlier ones, and returns its outputs as they were asked for in submit().

        timeout: seconds; None: no limit. Raises TimeoutError, or the Error with which the run ended (on every call).
        Ctrl-C ends the wait, not the run.
        """
        begin = time.monotonic()
        while not self._wait_slice(timeout, time.monotonic() - begin):
            pass
        with self._lock:
            call(library.vellum_run_wait, self)
            if self._outputs is None:
                self._outputs = self._read(self)
            return self._outputs

    def _wait_slice(self, timeout: float | None, elapsed: float) -> bool:
        """Waits a little. Returns whether vellum_run_wait() should be called."""
        left = float("inf") if timeout is None else timeout - elapsed
        if left <= 0:
            if self.done():
                return True
            raise TimeoutError(f"the run is not done after {timeout} s")
        done = ctypes.c_int32()
        milliseconds = int(min(SLICE_MS, 1000 * left + 1))
        with self._lock:
            call(library.vellum_run_wait_for, self, milliseconds, ctypes.byref(done))
        # After the limit only vellum_run_wait() finds out that the device hangs.
        return bool(done) or (elapsed > self._wait_limit and timeout is None)

    def cancel(self) -> None:
        """Stops what the device has not been given yet, and returns at once; result() then raises Error(CANCELLED).

        What the device has it still does: all of a run that is one submit (see max_submit_ms). From any thread.
        """
        call(library.vellum_run_cancel, self)

    def __repr__(self) -> str:
        return "<vellum.Run>"
