"""Whether a device computes what it should, and what its driver makes of a model's kernels."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import _c_api
from ._callbacks import Callbacks
from ._device import DeviceLike, as_device
from ._html import table
from ._library import Handle, call, defaults, library, sized, text
from ._model import Model, ModelSource, as_model
from ._options import SessionOptions, c_session_options
from ._progress import Progress, Reporter

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dataclass(frozen=True)
class KernelCheck:
    """One small operator, computed by one kernel on the device and compared with the host."""

    operation: str  # "Conv 3x3"
    kernel: str  # the kernel that was made to compute it: "winograd 2x2"; empty where there is but one
    precision: str  # "fp32", "fp16"
    arithmetic: str  # "fp32", "fp16"
    storage: str  # of its tensors: "image2d", "image3d", "buffer"
    passed: bool  # it was computed, and `difference` is at most `bound`
    difference: float  # the largest from the host, divided by the largest magnitude of the host's result or 1; may be NaN
    bound: float
    failure: str  # why it could not be computed; empty: it was


def _check(check: _c_api.vellum_kernel_check) -> KernelCheck:
    return KernelCheck(
        operation=text(check.operation),
        kernel=text(check.kernel),
        precision=_c_api.vellum_precision(check.precision).name.lower(),
        arithmetic=_c_api.vellum_arithmetic(check.arithmetic).name.removeprefix("ARITHMETIC_").lower(),
        storage=_c_api.vellum_storage(check.storage).name.removeprefix("STORAGE_").lower(),
        passed=bool(check.passed),
        difference=check.difference,
        bound=check.bound,
        failure=text(check.failure),
    )


def check_kernels(
    device: DeviceLike = None, *, only: str = "", all: bool = False, repetitions: int = 1, progress: Progress = False
) -> list[KernelCheck]:
    """Computes small operators of every kind on the device and compares them with the host, as `vellum doctor` does.

    only: operations whose name begins so, such as "Conv"; Error(NOT_FOUND) if there is none.
    all: every candidate of every operator; otherwise one of each algorithm.
    repetitions: how often each kernel runs; a result whose bits differ from those of the first is a failure.
    progress: True: a line on the terminal; a function: called with ("kernels", done, total).

    Seconds on a GPU, a minute on a CPU. Kernels that are wrong are in the result, they are no exception. Ctrl-C, and
    exceptions in `progress`, end it.
    """
    return _run(library.vellum_check_kernels, [as_device(device)], "kernels", only, all, repetitions, progress)


def check_layers(
    model: Model | ModelSource,
    device: DeviceLike = None,
    *,
    only: str = "",
    repetitions: int = 1,
    progress: Progress = False,
    **options: Unpack[SessionOptions],
) -> list[KernelCheck]:
    """Computes each layer of a model in its own shapes on the device and compares it with the host, as `vellum doctor MODEL`.

    only: layers whose name has this part; Error(NOT_FOUND) if there is none.
    repetitions, progress: as of check_kernels(), which calls progress with ("layers", done, total).

    The host computes the whole network from random inputs: a second for 100 million multiplications. Other keyword arguments
    are options of Session.
    """
    struct = c_session_options(options)
    arguments = [as_device(device), as_model(model), ctypes.byref(struct)]
    return _run(library.vellum_check_layers, arguments, "layers", only, False, repetitions, progress)


def _run(
    function: Callable[..., int],
    arguments: list[Any],
    what: str,
    only: str,
    all: bool,
    repetitions: int,
    progress: Progress,
) -> list[KernelCheck]:
    """The results of a function of the library that takes the arguments and options of a check."""
    options = defaults(_c_api.vellum_kernel_check_options)
    options.only = only.encode()
    options.all = int(all)
    options.repetitions = repetitions
    with Reporter(progress) as report, Handle(library.vellum_kernel_check_list_destroy) as checks:
        with Callbacks() as callbacks:
            options.progress = type(options.progress)(lambda done, total, _: callbacks.run(report, what, done, total))
            checks._make(function, *arguments, ctypes.byref(options))
        found = []
        for index in range(library.vellum_kernel_check_list_count(checks)):
            check = sized(_c_api.vellum_kernel_check)
            call(library.vellum_kernel_check_list_get, checks, index, ctypes.byref(check))
            found.append(_check(check))
        return found


@dataclass(frozen=True)
class DeviceRates:
    """The most that a device does, and what a dispatch costs it besides. What is 0 is not known."""

    gigamacs_per_s: float = 0.0  # fp32 multiply-accumulates
    gigabytes_per_s: float = 0.0  # device memory
    units: int = 0  # each issues the instructions of one subgroup or more at a time
    lanes: int = 0  # invocations that compute at the same time, in all units together
    latency_ns: float = 0.0  # of a load that misses the first cache
    launch_us: float = 0.0  # to start a dispatch
    barrier_us: float = 0.0  # to drain the device before it, and to make its results visible


@dataclass(frozen=True)
class KernelStatistic:
    """A figure by the driver's own name."""

    name: str
    description: str
    value: float  # a flag is 0 or 1


@dataclass(frozen=True)
class KernelRepresentation:
    """A form of a shader inside the driver's compiler, such as its assembly."""

    name: str
    description: str
    text: str = field(repr=False)


@dataclass(frozen=True)
class KernelCode:
    """Machine code of a pipeline. Figures that the driver does not give are NaN."""

    name: str  # the driver's: "Compute Shader", "SIMD16 compute"
    subgroup_size: int  # 0: not known
    registers: float  # of an invocation, as the driver counts them
    spills: float  # registers, or instructions that store them, that did not fit
    resident_subgroups: float  # the most that a SIMD unit, core or multiprocessor holds at a time
    shared_memory_bytes: float  # of a workgroup
    instructions: float  # in the code, not executed
    cycles: float  # the driver's own estimate
    statistics: tuple[KernelStatistic, ...]  # all that the driver gives
    representations: tuple[KernelRepresentation, ...]  # if they were asked for


@dataclass(frozen=True)
class KernelPipeline:
    """A pipeline, and the code that the driver makes of it."""

    shader: str
    variant: str  # the defines as text, without those that every kernel has for its tensors
    defines: dict[str, str]
    workgroup_size: tuple[int, int, int]
    codes: tuple[KernelCode, ...]  # drivers may make code for several subgroup sizes


@dataclass(frozen=True)
class KernelDispatch:
    """A dispatch, in execution order. Times are microseconds, NaN if the rates are not known."""

    name: str  # of the node
    op: str  # operator type; "Convert" for a layout conversion
    pipeline: int  # index into KernelReport.pipelines
    workgroups: tuple[int, int, int]
    barrier: bool  # it waits for dispatches before it
    invocations: int
    subgroups: int  # 0 if the subgroup size is not known
    macs: int  # multiply-accumulates without padding
    bytes: int  # of the tensors that it binds, each once
    compute_us: float  # at the device's rates, which no dispatch can beat
    memory_us: float  # likewise
    predicted_us: float  # that it should take; docs/gpu_compilers.md has the model
    latency_us: float  # of loads that wait for one another
    overhead_us: float  # of launch and barrier
    steps: float  # loads that wait for one another
    busy: float  # the share of the units that has work
    waves: float  # subgroups among which a unit switches
    efficiency: float  # the share of the peak rate that the kernel's loop is taken to reach


@dataclass(frozen=True)
class KernelReport:
    """What a device's driver makes of the kernels of a session, and how long each dispatch should take."""

    pipelines: tuple[KernelPipeline, ...]  # in order of first use
    dispatches: tuple[KernelDispatch, ...]
    rates: DeviceRates | None  # that times come from; None: there are none

    def __repr__(self) -> str:
        return f"<vellum.KernelReport: {len(self.dispatches)} dispatches of {len(self.pipelines)} pipelines>"

    def _repr_html_(self) -> str:
        rows = [
            [entry.name, entry.op, self.pipelines[entry.pipeline].shader, f"{entry.predicted_us:.1f}"]
            for entry in self.dispatches
        ]
        return table(repr(self)[1:-1], ["node", "operator", "shader", "predicted, us"], rows)


def _rates(rates: _c_api.vellum_device_rates) -> DeviceRates:
    return DeviceRates(**{name: getattr(rates, name) for name in DeviceRates.__dataclass_fields__})


def known_rates(device: DeviceLike = None) -> DeviceRates | None:
    """The rates from published figures of the device's chip; None: it is not in the table."""
    rates, known = sized(_c_api.vellum_device_rates), ctypes.c_int32()
    call(library.vellum_device_known_rates, as_device(device), ctypes.byref(rates), ctypes.byref(known))
    return _rates(rates) if known else None


def _code(report: Handle, pipeline: int, index: int) -> KernelCode:
    code = sized(_c_api.vellum_kernel_code)
    call(library.vellum_kernel_report_code, report, pipeline, index, ctypes.byref(code))
    return KernelCode(
        name=text(code.name),
        subgroup_size=code.subgroup_size,
        registers=code.registers,
        spills=code.spills,
        resident_subgroups=code.resident_subgroups,
        shared_memory_bytes=code.shared_memory_bytes,
        instructions=code.instructions,
        cycles=code.cycles,
        statistics=tuple(
            KernelStatistic(text(entry.name), text(entry.description), entry.value)
            for entry in code.statistics[: code.statistic_count]
        ),
        representations=tuple(
            KernelRepresentation(text(entry.name), text(entry.description), text(entry.text))
            for entry in code.representations[: code.representation_count]
        ),
    )


def _pipeline(report: Handle, index: int) -> KernelPipeline:
    pipeline = sized(_c_api.vellum_kernel_pipeline)
    call(library.vellum_kernel_report_pipeline, report, index, ctypes.byref(pipeline))
    x, y, z = pipeline.workgroup_size
    return KernelPipeline(
        shader=text(pipeline.shader),
        variant=text(pipeline.variant),
        defines={text(entry.name): text(entry.value) for entry in pipeline.defines[: pipeline.define_count]},
        workgroup_size=(x, y, z),
        codes=tuple(_code(report, index, i) for i in range(pipeline.code_count)),
    )


def _dispatch(report: Handle, index: int) -> KernelDispatch:
    dispatch = sized(_c_api.vellum_kernel_dispatch)
    call(library.vellum_kernel_report_dispatch, report, index, ctypes.byref(dispatch))
    values = {name: getattr(dispatch, name) for name in KernelDispatch.__dataclass_fields__}
    values.update(
        name=text(dispatch.name),
        op=text(dispatch.op),
        workgroups=tuple(dispatch.workgroups),
        barrier=bool(dispatch.barrier),
    )
    return KernelDispatch(**values)


def kernel_report(
    model: Model | ModelSource,
    device: DeviceLike = None,
    *,
    rates: DeviceRates | None = None,
    representations: bool = False,
    **options: Unpack[SessionOptions],
) -> KernelReport:
    """Compiles every pipeline of a session with these options, apart from the device's caches, and reports on the code.

    rates: of the device; None: known_rates().
    representations: also the code as text, megabytes for a network.

    Raises Error(UNSUPPORTED) if the driver lacks VK_KHR_pipeline_executable_properties.
    """
    struct = c_session_options(options)
    report_options = defaults(_c_api.vellum_kernel_report_options)
    report_options.representations = int(representations)
    if rates is not None:
        given = sized(_c_api.vellum_device_rates)
        for name in DeviceRates.__dataclass_fields__:
            setattr(given, name, getattr(rates, name))
        report_options.rates = ctypes.pointer(given)
    with Handle(library.vellum_kernel_report_destroy) as report:
        report._make(
            library.vellum_kernel_report_create,
            as_device(device),
            as_model(model),
            ctypes.byref(struct),
            ctypes.byref(report_options),
        )
        used, known = sized(_c_api.vellum_device_rates), ctypes.c_int32()
        call(library.vellum_kernel_report_rates, report, ctypes.byref(used), ctypes.byref(known))
        return KernelReport(
            pipelines=tuple(_pipeline(report, i) for i in range(library.vellum_kernel_report_pipeline_count(report))),
            dispatches=tuple(_dispatch(report, i) for i in range(library.vellum_kernel_report_dispatch_count(report))),
            rates=_rates(used) if known else None,
        )
