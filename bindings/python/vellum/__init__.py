"""Vellum: Vulkan compute inference for vision models, with planned, shared memory.

    import vellum
    session = vellum.Session("model.onnx")
    scores = session.run({"image": pixels})["scores"]

Every function may raise vellum.Error, whose code is a vellum.ErrorCode; TypeError means wrong use.
"""

from ._device import Device, DeviceInfo, default_cache_folder, devices
from ._frame import FrameInput, FrameTransform
from ._frontier import FrontierPoint, MemoryFrontier, memory_frontier
from ._kernels import (
    DeviceRates,
    KernelCheck,
    KernelCode,
    KernelDispatch,
    KernelPipeline,
    KernelReport,
    KernelRepresentation,
    KernelStatistic,
    check_kernels,
    check_layers,
    kernel_report,
    known_rates,
)
from ._large_picture import LargePicture, PictureRegion, PictureTiles
from ._library import Error, ErrorCode, library
from ._model import Model, NodeInfo, graph_passes
from ._offline import (
    BundleSummary,
    MemoryEstimate,
    MemoryMeasurement,
    TuneResult,
    bundle_in_memory,
    describe,
    estimate_memory,
    measure_memory,
    plan_memory,
    tune,
    write_bundle,
)
from ._option_types import DeviceOptions, LoadLimits, TuneOptions
from ._options import SessionOptions
from ._picture import PictureOutput
from ._pool import MemoryPool
from ._quantize import QuantizedLayer, QuantizedModel, QuantizedOutput, QuantizeOptions, quantize
from ._reports import LayerTime, MemoryReport, ObjectReport, Profile, TensorReport
from ._run import Run
from ._session import Session
from ._state import SavedState
from ._steps import StepLoop, StepResults
from ._tensor import TensorInfo

__version__ = ".".join(str(library.vellum_version() // scale % 100) for scale in (10000, 100, 1))

__all__ = [
    "BundleSummary",
    "Device",
    "DeviceInfo",
    "DeviceOptions",
    "DeviceRates",
    "Error",
    "ErrorCode",
    "FrameInput",
    "FrameTransform",
    "FrontierPoint",
    "KernelCheck",
    "KernelCode",
    "KernelDispatch",
    "KernelPipeline",
    "KernelReport",
    "KernelRepresentation",
    "KernelStatistic",
    "LargePicture",
    "LayerTime",
    "LoadLimits",
    "MemoryEstimate",
    "MemoryFrontier",
    "MemoryMeasurement",
    "MemoryPool",
    "MemoryReport",
    "Model",
    "NodeInfo",
    "ObjectReport",
    "PictureOutput",
    "PictureRegion",
    "PictureTiles",
    "Profile",
    "QuantizeOptions",
    "QuantizedLayer",
    "QuantizedModel",
    "QuantizedOutput",
    "Run",
    "SavedState",
    "Session",
    "SessionOptions",
    "StepLoop",
    "StepResults",
    "TensorInfo",
    "TensorReport",
    "TuneOptions",
    "TuneResult",
    "bundle_in_memory",
    "check_kernels",
    "check_layers",
    "default_cache_folder",
    "describe",
    "devices",
    "estimate_memory",
    "graph_passes",
    "kernel_report",
    "known_rates",
    "measure_memory",
    "memory_frontier",
    "plan_memory",
    "quantize",
    "tune",
    "write_bundle",
]
