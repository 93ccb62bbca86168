"""Progress of long work: a line on a terminal, or a function of the caller's."""

from __future__ import annotations

import sys
from collections.abc import Callable

# Called with what is done ("pipelines", "operators"), how much of it, and of how much (0: not known yet).
ProgressCallback = Callable[[str, int, int], object]
Progress = bool | ProgressCallback


class ProgressLine:
    """`vellum: pipelines  31/57 [##########          ]`, on standard error where that is a terminal."""

    WIDTH = 30

    def __init__(self) -> None:
        self._shown = ""

    def __call__(self, step: str, done: int, total: int) -> None:
        filled = self.WIDTH * done // total if total else 0
        line = f"vellum: {step} {done:3}/{total} [{'#' * filled:{self.WIDTH}}]" if total else f"vellum: {step}"
        if line != self._shown:
            sys.stderr.write(f"\r{line:{len(self._shown)}}")
            sys.stderr.flush()
            self._shown = line

    def close(self) -> None:
        if self._shown:
            sys.stderr.write(f"\r{'':{len(self._shown)}}\r")
            sys.stderr.flush()


class Reporter:
    """What to call with progress, as a context that leaves no line behind."""

    def __init__(self, progress: Progress) -> None:
        self._line = ProgressLine() if progress is True and sys.stderr.isatty() else None
        self._callback = progress if callable(progress) else self._line

    def __call__(self, step: str, done: int, total: int) -> None:
        if self._callback:
            self._callback(step, done, total)

    def __enter__(self) -> Reporter:
        return self

    def __exit__(self, *_: object) -> None:
        if self._line:
            self._line.close()
