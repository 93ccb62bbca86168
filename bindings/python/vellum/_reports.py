"""Memory and time of a session, as values that show themselves in notebooks."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from typing import Any

from . import _c_api
from ._html import size, table
from ._library import Handle, call, defaults, library, made_text, sized, text
from ._tensor import read_shape


@dataclass(frozen=True)
class ObjectReport:
    """One device image or buffer that carries intermediate tensors; with memory="offsets" it has one tensor."""

    kind: str  # "image2d", "image3d", "buffer"
    format: str  # "rgba32f", "rgba16f"; empty for buffers
    extent: tuple[int, int, int]  # texels: width, height, depth; images only
    bytes: int  # of device memory, padding included
    arena: int  # index into MemoryReport.arenas
    arena_offset: int  # bytes from the start of that arena
    tensors: tuple[str, ...]  # in order of first use

    @property
    def reuse_count(self) -> int:
        """The tensors that it carries in one inference."""
        return len(self.tensors)


@dataclass(frozen=True)
class TensorReport:
    """An intermediate or workspace tensor and its memory. Tasks are counted as in Profile.layers, both inclusive."""

    name: str
    op: str  # operator type of the task that writes it first
    role: str  # "intermediate", "workspace"
    shape: tuple[int | None, ...]
    object: int  # index into MemoryReport.objects
    offset: int  # bytes from the start of that object
    first_task: int
    last_task: int
    bytes: int  # without the device's padding


@dataclass(frozen=True)
class MemoryReport:
    """Which object holds which tensors, when and where; and bytes of device memory.

    In a notebook it shows the memory map and a table of the objects.
    """

    objects: tuple[ObjectReport, ...]
    tensors: tuple[TensorReport, ...]
    arenas: tuple[int, ...]  # bytes of each allocation that holds objects
    mode: str  # "shared-objects", "offsets", "naive"; empty before the session is prepared
    strategy: str  # of the planner
    naive_bytes: int  # every intermediate tensor in memory of its own
    planned_bytes: int  # the sum of the arenas
    lower_bound_bytes: int  # no plan of this mode can be smaller
    allocated_bytes: int  # for intermediates, as passed to vkAllocateMemory
    weights_bytes: int  # for weights, as passed to vkAllocateMemory
    in_out_bytes: int  # for inputs and outputs, as passed to vkAllocateMemory
    state_bytes: int  # for states, as passed to vkAllocateMemory
    streamed_weights_bytes: int  # copied to the device in every run; 0 without a weights budget
    in_flight: int  # allocated_bytes and in_out_bytes are for this many runs together
    peak_weights_bytes: int  # the peak of weights_bytes
    total_weights_bytes: int  # all weights, on the device at once or not, without padding
    memory_budget: int  # of the session's options
    budget_used_bytes: int  # of it allocated now; 0 without a budget
    budget_peak_bytes: int  # the peak of that, staging included
    _plan: Handle = field(repr=False, compare=False)

    def svg(self, title: str = "") -> str:
        """The memory map: tasks from left to right, addresses upwards, a rectangle for each tensor.

        Raises Error(INVALID_ARGUMENT) if there are no objects.
        """
        return made_text(library.vellum_memory_plan_svg, self._plan, title.encode())

    def __repr__(self) -> str:
        return (
            f"<vellum.MemoryReport: {len(self.tensors)} tensors of {size(self.naive_bytes)} in {len(self.objects)} objects"
            f" of {size(self.planned_bytes)}; weights {size(self.weights_bytes)}, inputs and outputs"
            f" {size(self.in_out_bytes)}>"
        )

    def _repr_svg_(self) -> str | None:
        return self.svg() if self.objects else None

    def _repr_html_(self) -> str:
        rows = [
            [str(i), entry.kind, entry.format, "x".join(map(str, entry.extent)) if entry.format else "", size(entry.bytes),
             str(entry.reuse_count), _first_and_last(entry.tensors)]
            for i, entry in enumerate(self.objects)
        ]  # fmt: skip
        head = ["object", "kind", "format", "extent", "size", "tensors", "names"]
        return (self._repr_svg_() or "") + table(repr(self)[1:-1], head, rows)


def _first_and_last(names: tuple[str, ...]) -> str:
    """The last parts of the names of an object's tensors, in the order of their use: some have 80, with long paths."""
    short = [name.rsplit("/", 1)[-1] for name in names]
    return ", ".join(short) if len(short) <= 4 else f"{short[0]}, {short[1]}, \u2026 {short[-1]}"


@dataclass(frozen=True)
class LayerTime:
    """A task of a run."""

    name: str  # of the node
    op: str  # operator type; "Convert" for a layout conversion
    shader: str  # empty: ran on the host
    storage: str  # of its output: "image2d", "image3d", "buffer"; empty on the host
    workgroups: tuple[int, int, int]  # dispatched; 0 on the host
    gpu_ms: float  # NaN if the device has no timestamps, and on the host
    begin_ms: float  # relative to the first task; NaN likewise


@dataclass(frozen=True)
class Profile:
    """Where memory and time of a run went. In a notebook it shows the profile page."""

    layers: tuple[LayerTime, ...]  # in execution order
    html: str = field(repr=False)  # a self-contained page: memory map, objects, bytes, time of each layer
    trace: str = field(repr=False)  # the same as JSON in Chrome's trace event format, for Perfetto

    @property
    def total_ms(self) -> float:
        """The sum of the times that are known."""
        return sum(layer.gpu_ms for layer in self.layers if not math.isnan(layer.gpu_ms))

    def __repr__(self) -> str:
        return f"<vellum.Profile: {len(self.layers)} tasks, {self.total_ms:.3f} ms>"

    def _repr_html_(self) -> str:
        # In a frame of its own, whose styles and scripts do not meet the notebook's.
        return f'<iframe srcdoc="{escape(self.html)}" style="width:100%;height:800px;border:0"></iframe>'


def _object(plan: Handle, index: int) -> ObjectReport:
    entry = sized(_c_api.vellum_object_report)
    call(library.vellum_memory_plan_object, plan, index, ctypes.byref(entry))
    x, y, z = entry.extent
    return ObjectReport(
        kind=text(entry.kind),
        format=text(entry.format),
        extent=(x, y, z),
        bytes=entry.bytes,
        arena=entry.arena,
        arena_offset=entry.arena_offset,
        tensors=tuple(text(name) for name in entry.tensors[: entry.reuse_count]),
    )


def _tensor(plan: Handle, index: int) -> TensorReport:
    entry = sized(_c_api.vellum_tensor_report)
    call(library.vellum_memory_plan_tensor, plan, index, ctypes.byref(entry))
    return TensorReport(
        name=text(entry.name),
        op=text(entry.op),
        role=text(entry.role),
        shape=read_shape(entry),
        object=entry.object,
        offset=entry.offset,
        first_task=entry.first_task,
        last_task=entry.last_task,
        bytes=entry.bytes,
    )


def read_memory(function: Callable[..., int], *arguments: Any) -> MemoryReport:
    """Calls a function that makes a vellum_memory_plan. The report keeps it, for its picture."""
    plan = Handle(library.vellum_memory_plan_destroy)._make(function, *arguments)
    report = sized(_c_api.vellum_memory_report)
    call(library.vellum_memory_plan_report, plan, ctypes.byref(report))
    return MemoryReport(
        objects=tuple(_object(plan, index) for index in range(report.object_count)),
        tensors=tuple(_tensor(plan, index) for index in range(report.tensor_count)),
        arenas=tuple(report.arenas[: report.arena_count]),
        mode=text(report.mode),
        strategy=text(report.strategy),
        naive_bytes=report.naive_bytes,
        planned_bytes=report.planned_bytes,
        lower_bound_bytes=report.lower_bound_bytes,
        allocated_bytes=report.allocated_bytes,
        weights_bytes=report.weights_bytes,
        in_out_bytes=report.in_out_bytes,
        state_bytes=report.state_bytes,
        streamed_weights_bytes=report.streamed_weights_bytes,
        in_flight=report.in_flight,
        peak_weights_bytes=report.peak_weights_bytes,
        total_weights_bytes=report.total_weights_bytes,
        memory_budget=report.memory_budget,
        budget_used_bytes=report.budget_used_bytes,
        budget_peak_bytes=report.budget_peak_bytes,
        _plan=plan,
    )


def _layer(session: Any, index: int) -> LayerTime:
    time = sized(_c_api.vellum_layer_time)
    call(library.vellum_session_layer, session, index, ctypes.byref(time))
    x, y, z = time.workgroups
    return LayerTime(
        name=text(time.name),
        op=text(time.op),
        shader=text(time.shader),
        storage=text(time.storage),
        workgroups=(x, y, z),
        gpu_ms=time.gpu_ms,
        begin_ms=time.begin_ms,
    )


def read_profile(session: Any, title: str, subtitle: str) -> Profile:
    options = defaults(_c_api.vellum_profile_options)
    options.model = title.encode()
    options.subtitle, options.subtitle_count = (ctypes.c_char_p * 1)(subtitle.encode()), 1
    return Profile(
        layers=tuple(_layer(session, index) for index in range(library.vellum_session_layer_count(session))),
        html=made_text(library.vellum_session_profile_html, session, ctypes.byref(options)),
        trace=made_text(library.vellum_session_profile_trace, session, ctypes.byref(options)),
    )
