"""Time over memory."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from . import _c_api
from ._callbacks import Callbacks
from ._device import Device
from ._html import size, table
from ._library import Error, ErrorCode, Handle, call, defaults, library, made_text, sized
from ._model import Model, ModelSource, as_model
from ._options import SessionOptions, c_session_options
from ._progress import Progress, Reporter

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dataclass(frozen=True)
class FrontierPoint:
    """What a memory budget costs. Bytes of device memory."""

    budget: int  # for Session(..., memory_budget=...)
    bytes: int  # the most that a session within this budget allocates from Vulkan at a time
    weights_bytes: int  # of these, for weights
    streamed_bytes: int  # of weights, copied to the device in every run; 0: all weights are resident
    predicted_ms: float  # of a run; for comparing points, the device's rates are published or assumed


@dataclass(frozen=True)
class MemoryFrontier:
    """How fast a model runs within how many bytes of device memory. In a notebook it shows the curve and a table."""

    points: tuple[FrontierPoint, ...]  # in order of budgets
    knee: FrontierPoint | None  # where less memory begins to cost much time; None: there are no points
    _frontier: Handle = field(repr=False, compare=False)

    def svg(self, title: str = "", measured_ms: Sequence[float] | None = None) -> str:
        """Draws milliseconds over budgets as an SVG document. measured_ms: of each point, for a second line."""
        measured = None
        if measured_ms is not None:
            if len(measured_ms) != len(self.points):
                found = f"{len(measured_ms)} measured times for {len(self.points)} points"
                raise Error(ErrorCode.INVALID_ARGUMENT, found)
            measured = (ctypes.c_double * len(self.points))(*measured_ms)
        return made_text(library.vellum_memory_frontier_svg, self._frontier, title.encode(), measured)

    def __repr__(self) -> str:
        if not self.points:
            return "<vellum.MemoryFrontier: no points>"
        first, last = self.points[0], self.points[-1]
        return (
            f"<vellum.MemoryFrontier: {len(self.points)} points, {first.predicted_ms:.2f} ms in {size(first.budget)} to"
            f" {last.predicted_ms:.2f} ms in {size(last.budget)}>"
        )

    def _repr_html_(self) -> str:
        rows = [
            [size(point.budget), size(point.weights_bytes), size(point.streamed_bytes), f"{point.predicted_ms:.3f}"]
            for point in self.points
        ]
        head = ["budget", "weights", "streamed in each run", "predicted ms"]
        return (self.svg() if self.points else "") + table(repr(self)[1:-1], head, rows)


def memory_frontier(
    model: Model | ModelSource,
    *,
    device: Device | None = None,
    caps: str | None = None,
    budgets: Sequence[int] | None = None,
    progress: Progress = False,
    **options: Unpack[SessionOptions],
) -> MemoryFrontier:
    """Finds how fast sessions with these options would run within how many bytes of device memory.

    `device` and `caps` as for estimate_memory().

    budgets: bytes; None: from the smallest that suffices to what the options take without one. Those that are too small for
        the model are left out.
    progress: True: a line on the terminal; a function: called with ("budgets", done, total).
    """
    struct = c_session_options(options)
    frontier_options = defaults(_c_api.vellum_frontier_options)
    if budgets is not None:
        if any(not 0 < budget < 2**64 for budget in budgets):
            raise Error(ErrorCode.INVALID_ARGUMENT, "a budget is not positive")
        frontier_options.budgets = (ctypes.c_uint64 * len(budgets))(*budgets)
        frontier_options.budget_count = len(budgets)
    frontier = Handle(library.vellum_memory_frontier_destroy)
    with Reporter(progress) as report, Callbacks() as callbacks:

        def on_progress(done: int, total: int, _: object) -> None:
            callbacks.run(report, "budgets", done, total)

        frontier_options.progress = type(frontier_options.progress)(on_progress)
        c_caps = caps.encode() if caps is not None else None
        pointers = ctypes.byref(struct), device, c_caps, ctypes.byref(frontier_options)
        frontier._make(library.vellum_memory_frontier_create, as_model(model), *pointers)
    points = tuple(_point(frontier, index) for index in range(library.vellum_memory_frontier_count(frontier)))
    knee = ctypes.c_size_t()
    if points:
        call(library.vellum_memory_frontier_knee, frontier, None, ctypes.byref(knee))
    return MemoryFrontier(points, points[knee.value] if points else None, frontier)


def _point(frontier: Handle, index: int) -> FrontierPoint:
    point = sized(_c_api.vellum_frontier_point)
    call(library.vellum_memory_frontier_point, frontier, index, ctypes.byref(point))
    return FrontierPoint(point.budget, point.bytes, point.weights_bytes, point.streamed_bytes, point.predicted_ms)
