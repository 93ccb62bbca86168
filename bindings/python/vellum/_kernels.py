"""Whether a device computes what it should."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

from . import _c_api
from ._device import DeviceLike, as_device
from ._library import Error, ErrorCode, Handle, call, defaults, library, sized, text
from ._progress import Progress, Reporter


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
    device: DeviceLike = None, *, only: str = "", all: bool = False, progress: Progress = False
) -> list[KernelCheck]:
    """Computes small operators of every kind on the device and compares them with the host, as `vellum doctor` does.

    only: operations whose name begins so, such as "Conv"; Error(NOT_FOUND) if there is none.
    all: every candidate of every operator; otherwise one of each algorithm.
    progress: True: a line on the terminal; a function: called with ("kernels", done, total).

    Seconds on a GPU, a minute on a CPU. Kernels that are wrong are in the result, they are no exception. Ctrl-C, and
    exceptions in `progress`, end it.
    """
    opened = as_device(device)
    options = defaults(_c_api.vellum_kernel_check_options)
    options.only = only.encode()
    options.all = int(all)
    raised: list[BaseException] = []

    with Reporter(progress) as report, Handle(library.vellum_kernel_check_list_destroy) as checks:

        def on_progress(done: int, total: int, _: object) -> int:
            try:
                report("kernels", done, total)
            except BaseException as exception:  # it cannot pass through the library
                raised.append(exception)
            return len(raised)

        options.progress = type(options.progress)(on_progress)
        try:
            checks.make(library.vellum_check_kernels, opened, ctypes.byref(options))
        except Error as error:
            if error.code == ErrorCode.CANCELLED and raised:
                raise raised[0] from None
            raise
        found = []
        for index in range(library.vellum_kernel_check_list_count(checks)):
            check = sized(_c_api.vellum_kernel_check)
            call(library.vellum_kernel_check_list_get, checks, index, ctypes.byref(check))
            found.append(_check(check))
        return found
