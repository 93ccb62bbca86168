"""What is done with a model besides running it: estimates of memory, bundles, tuning."""

from __future__ import annotations

import ctypes
import os
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar, cast

from . import _c_api
from ._callbacks import Callbacks
from ._device import Device, DeviceLike, as_device
from ._frame import FrameInput, c_frame_input
from ._html import size, table
from ._library import call, defaults, library, made_text, sized, text
from ._model import Model, ModelSource, as_model
from ._option_types import TuneOptions
from ._options import SessionOptions, c_session_options, set_options
from ._picture import PictureOutput, c_picture_output
from ._progress import Progress, Reporter
from ._reports import MemoryReport, read_memory

if TYPE_CHECKING:
    from typing_extensions import Unpack


Variant = TypeVar("Variant", FrameInput, PictureOutput)


@dataclass(frozen=True)
class MemoryEstimate:
    """Bytes, by the categories of docs/estimate.md."""

    weights: int
    in_out: int
    state: int  # inputs and outputs that stay on the device
    intermediates: int
    workspace: int
    staging: int
    resident: int
    total: int  # of the seven
    driver_known: bool  # False: `resident` excludes a CPU driver's own memory, which the caps lack
    allocated_peak: int  # the peak of allocations from Vulkan, padding included
    shape_inference_total: int  # the estimate from shapes alone
    total_least: int  # the bounds of `total`: apart where a CPU driver's own memory was not measured on this processor
    total_most: int
    # What `resident` is; the last two are a CPU driver's, 0 where driver_known is False.
    padding: int  # of alignment, images and allocators
    host: int  # constants and copies in a host memory that the device shares
    driver_code: int  # code and data of the driver
    pipeline_code: int  # machine code of all pipelines
    # As passed to vkAllocateMemory; `intermediates` with workspace, `staging` at its peak.
    allocated_weights: int
    allocated_in_out: int
    allocated_state: int
    allocated_intermediates: int
    allocated_staging: int
    dispatches: int  # of one run
    pipelines: int  # that differ
    run_ms: float  # one run by the performance model, with the waits for streamed weights
    streamed_bytes: int  # of weights that a run copies to the device

    def __repr__(self) -> str:
        return f"<vellum.MemoryEstimate: {size(self.total)}, {size(self.allocated_peak)} of them from Vulkan>"

    def _repr_html_(self) -> str:
        names = ("weights", "in_out", "state", "intermediates", "workspace", "staging", "resident", "total", "allocated_peak")
        return table("Estimated memory", ["", ""], [[name, size(getattr(self, name))] for name in names])


def estimate_memory(
    model: Model | ModelSource,
    *,
    device: Device | None = None,
    caps: str | None = None,
    **options: Unpack[SessionOptions],
) -> MemoryEstimate:
    """Estimates the memory of a session with these options before it is made.

    Sizes in memory come from `device`; if it is None they are modelled from `caps`, the text of a caps file (`vellum
    devices --save-caps`), or from the Android Baseline 2022 profile.
    """
    estimate = sized(_c_api.vellum_memory_estimate)
    struct = c_session_options(options)
    c_caps = caps.encode() if caps is not None else None
    call(library.vellum_estimate_memory, as_model(model), ctypes.byref(struct), device, c_caps, ctypes.byref(estimate))
    values = {name: getattr(estimate, name) for name in MemoryEstimate.__dataclass_fields__}
    return MemoryEstimate(**{**values, "driver_known": bool(estimate.driver_known)})


@dataclass(frozen=True)
class MemoryMeasurement:
    """Bytes that were measured, by the categories of docs/estimate.md."""

    weights: int
    in_out: int
    state: int  # inputs and outputs that stay on the device
    intermediates: int
    workspace: int
    staging: int
    resident: int
    total: int  # of the seven
    allocated_peak: int  # the peak of allocations from Vulkan, padding included
    driver_included: bool  # `resident` includes the driver itself
    heap_bytes: int | None  # of the process in the driver's heaps, at the end of a run; None: the driver does not report it
    process_bytes: int | None  # the growth of the whole process at its peak; None: the system does not report it

    def __repr__(self) -> str:
        return f"<vellum.MemoryMeasurement: {size(self.total)}, {size(self.allocated_peak)} of them from Vulkan>"

    def _repr_html_(self) -> str:
        names = ("weights", "in_out", "state", "intermediates", "workspace", "staging", "resident", "total", "allocated_peak")
        return table("Measured memory", ["", ""], [[name, size(getattr(self, name))] for name in names])


def measure_memory(
    model: str | os.PathLike[str], *, device: int | str | uuid.UUID | None = None, **options: Unpack[SessionOptions]
) -> MemoryMeasurement:
    """Measures memory: opens a device, loads the model file, runs it twice with zeros and closes everything.

    device: as Device() takes it. No cache folder is used, so that shaders are compiled.
    """
    measured = sized(_c_api.vellum_memory_measurement)
    struct = c_session_options(options)
    c_device = defaults(_c_api.vellum_device_options)
    if device is not None:
        c_device.device = str(device).encode()
    path = os.fspath(model).encode()
    call(library.vellum_measure_memory, path, ctypes.byref(struct), ctypes.byref(c_device), ctypes.byref(measured))
    values = {name: getattr(measured, name) for name in MemoryMeasurement.__dataclass_fields__}
    values["driver_included"] = bool(measured.driver_included)
    values["heap_bytes"] = measured.heap_bytes if measured.heap_known else None
    values["process_bytes"] = measured.process_bytes if measured.process_known else None
    return MemoryMeasurement(**values)


def plan_memory(
    model: Model | ModelSource,
    *,
    device: Device | None = None,
    caps: str | None = None,
    **options: Unpack[SessionOptions],
) -> MemoryReport:
    """The memory plan that a session with these options would use, without weights, inputs and outputs.

    `device` and `caps` as for estimate_memory().
    """
    struct = c_session_options(options)
    c_caps = caps.encode() if caps is not None else None
    return read_memory(library.vellum_memory_plan_create, as_model(model), ctypes.byref(struct), device, c_caps)


def describe(
    model: Model | ModelSource,
    stage: Literal["graph", "program", "plan", "barriers"],
    *,
    device: Device | None = None,
    caps: str | None = None,
    **options: Unpack[SessionOptions],
) -> str:
    """A stage between model and session as text. `device` and `caps` as for estimate_memory()."""
    struct = c_session_options(options)
    c_caps = caps.encode() if caps is not None else None
    return made_text(library.vellum_describe, as_model(model), stage.encode(), ctypes.byref(struct), device, c_caps)


@dataclass(frozen=True)
class BundleSummary:
    """What write_bundle() wrote."""

    shaders: int  # variants that were compiled
    weights: int  # that were prepacked
    weights_bytes: int
    file_bytes: int


class _Variants:
    """What sessions of a bundle may do besides running its model, for C."""

    def __init__(
        self,
        frames: Mapping[str, FrameInput | Sequence[FrameInput]] | None,
        pictures: Mapping[str, PictureOutput | Sequence[PictureOutput]] | None,
        images: bool,
        signature: str | None,
    ) -> None:
        given = [(name, frame) for name, some in (frames or {}).items() for frame in _as_sequence(some)]
        self._frames = (_c_api.vellum_bundle_frame * len(given))()
        for entry, (name, frame) in zip(self._frames, given):
            entry.input, entry.frame = name.encode(), ctypes.pointer(c_frame_input(frame))
        wanted = [(name, picture) for name, some in (pictures or {}).items() for picture in _as_sequence(some)]
        self._pictures = (_c_api.vellum_bundle_picture * len(wanted))()
        for target, (name, picture) in zip(self._pictures, wanted):
            target.output, target.picture = name.encode(), ctypes.pointer(c_picture_output(picture))
        self.struct = defaults(_c_api.vellum_bundle_variants)
        self.struct.frames, self.struct.frame_count = self._frames, len(given)
        self.struct.pictures, self.struct.picture_count = self._pictures, len(wanted)
        self.struct.images = int(images)
        self.struct.signature = None if signature is None else signature.encode()


def _summary(summary: _c_api.vellum_bundle_summary) -> BundleSummary:
    return BundleSummary(summary.shaders, summary.weights, summary.weights_bytes, summary.file_bytes)


def write_bundle(
    model: str | os.PathLike[str],
    file: str | os.PathLike[str],
    *,
    device: Device | None = None,
    caps: str | None = None,
    frames: Mapping[str, FrameInput | Sequence[FrameInput]] | None = None,
    pictures: Mapping[str, PictureOutput | Sequence[PictureOutput]] | None = None,
    images: bool = False,
    signature: str | None = None,
    **options: Unpack[SessionOptions],
) -> BundleSummary:
    """Writes a bundle of a model file: one file that loads without compiling shaders or prepacking weights.

    For sessions with these options, on `device`, or if it is None on the device of `caps` (the text of a caps file), or
    the Android Baseline 2022 profile. The folder of `file` must exist.

    frames: by input, the frames that it may take (Model.with_frames()): a library that compiles no shaders needs theirs in the
        bundle. Their format, filter, bgr and border count, not their size.
    pictures: by output, the pictures that may be made of it (Model.with_picture()), likewise; colours, and sizes of more
        than 16 pixels across, do not count. A picture over an input needs one of `frames` for this input.
    images: applications on C++, C or Java may bind images as these frames and as outputs, and buffers with strides.
    signature: of a TFLite model, the one that the bundle is for, which has no other; None: as Model() chooses.
    """
    summary = sized(_c_api.vellum_bundle_summary)
    struct = c_session_options(options)
    variants = _Variants(frames, pictures, images, signature)
    call(
        library.vellum_write_bundle_with_variants,
        os.fspath(model).encode(),
        os.fspath(file).encode(),
        device,
        caps.encode() if caps is not None else None,
        ctypes.byref(struct),
        ctypes.byref(variants.struct),
        ctypes.byref(summary),
    )
    return _summary(summary)


def bundle_in_memory(
    model: bytes,
    *,
    device: Device | None = None,
    caps: str | None = None,
    frames: Mapping[str, FrameInput | Sequence[FrameInput]] | None = None,
    pictures: Mapping[str, PictureOutput | Sequence[PictureOutput]] | None = None,
    images: bool = False,
    signature: str | None = None,
    **options: Unpack[SessionOptions],
) -> tuple[bytes, BundleSummary]:
    """Makes a bundle of the bytes of a model, without files, as write_bundle() does. A model with external data is refused."""
    summary = sized(_c_api.vellum_bundle_summary)
    struct = c_session_options(options)
    variants = _Variants(frames, pictures, images, signature)
    pieces: list[bytes] = []
    with Callbacks() as callbacks:

        def take(piece: int, count: int, _: object) -> int:
            return callbacks.run(lambda: pieces.append(ctypes.string_at(piece, count)))

        call(
            library.vellum_bundle_in_memory_with_variants,
            model,
            len(model),
            _c_api.vellum_write_callback(take),
            None,
            device,
            caps.encode() if caps is not None else None,
            ctypes.byref(struct),
            ctypes.byref(variants.struct),
            ctypes.byref(summary),
        )
    return b"".join(pieces), _summary(summary)


def _as_sequence(some: Variant | Sequence[Variant]) -> Sequence[Variant]:
    return [some] if isinstance(some, (FrameInput, PictureOutput)) else some


@dataclass(frozen=True)
class TuneResult:
    """What tune() measured."""

    untuned_ms: float  # wall time of one inference
    tuned_ms: float
    untuned_weights_bytes: int  # of device memory
    tuned_weights_bytes: int
    seconds: float  # the time that tuning took
    complete: bool  # False: the limit of time ran out
    kept: bool  # False: the network became slower as a whole; nothing is kept
    storage: str  # of the tensors now: "buffer", "image2d", "image3d" or "mixed"
    operator_count: int  # that differ
    measured_count: int  # those of them that this call measured


class TuneArguments(SessionOptions, TuneOptions, total=False):
    """Keyword arguments of tune(): those of the session that is tuned, and how it is tuned."""


def tune(
    model: Model | ModelSource,
    device: DeviceLike,
    *,
    progress: Progress = False,
    **options: Unpack[TuneArguments],
) -> TuneResult:
    """Measures on the device how each operator of a session with these options is computed fastest.

    Later sessions use the result. It is kept in the device's cache folder, or as long as the device lives.

    progress: True: a line on the terminal; a function: called with ("storages", "operators" or "network", done, total).

    options: see TuneOptions and SessionOptions.

    Ctrl-C, and exceptions in `progress`, end it; nothing that this call measured is kept then.
    """
    names = TuneOptions.__annotations__
    struct = c_session_options(cast(SessionOptions, {name: value for name, value in options.items() if name not in names}))
    tune_options = defaults(_c_api.vellum_tune_options)
    set_options(tune_options, {name: value for name, value in options.items() if name in names}, TuneOptions)
    result = sized(_c_api.vellum_tune_result)
    pointers = ctypes.byref(struct), ctypes.byref(tune_options), ctypes.byref(result)
    with Reporter(progress) as report, Callbacks() as callbacks:

        def on_progress(step: bytes, done: int, total: int, _: object) -> None:
            callbacks.run(report, text(step), done, total)

        tune_options.progress = type(tune_options.progress)(on_progress)
        tune_options.should_stop = type(tune_options.should_stop)(lambda _: callbacks.ended)
        call(library.vellum_tune, as_device(device), as_model(model), *pointers)
    values = {name: getattr(result, name) for name in TuneResult.__dataclass_fields__}
    values.update(complete=bool(result.complete), kept=bool(result.kept), storage=text(result.storage))
    return TuneResult(**values)
