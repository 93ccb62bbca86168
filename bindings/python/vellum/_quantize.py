"""Static quantisation to an ONNX file with integers."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _c_api
from ._callbacks import Callbacks
from ._device import DeviceLike, as_device
from ._library import Error, ErrorCode, Handle, call, defaults, library, made_text, sized, text
from ._model import Model, ModelSource, as_model
from ._option_types import QuantizeTable
from ._options import c_input_shapes, c_shape_values, set_options
from ._progress import Progress, Reporter

if TYPE_CHECKING:
    from typing_extensions import Unpack

Example = Mapping[str, Any] | np.ndarray[Any, Any]


class QuantizeOptions(QuantizeTable, total=False):
    """Keyword arguments of quantize(). What is left out has the library's default."""

    input_shapes: Mapping[str, Sequence[int]]
    """For dimensions that the model leaves open, or another batch."""


@dataclass(frozen=True)
class QuantizedLayer:
    """A layer of the model. Ratios are of signal to noise in decibels; infinity without noise."""

    name: str
    op: str
    in_integers: bool  # False: the layer stayed in floating point
    low: float  # the range of its first input
    high: float
    own_ratio: float  # of its output, if only this layer is quantised
    network_ratio: float  # of its output in the whole quantised network


@dataclass(frozen=True)
class QuantizedOutput:
    """An output of the quantised model, beside that of the model of floats."""

    name: str
    ratio: float  # signal to noise in decibels
    error: float  # the noise as a fraction of the root mean square


class QuantizedModel(Handle):
    """An ONNX file with integers, which other engines run as well, and what the integers cost."""

    def __init__(self) -> None:
        super().__init__(library.vellum_quantized_model_destroy)

    @property
    def onnx(self) -> bytes:
        """The bytes of the file."""
        self._require_open()
        size = ctypes.c_size_t()
        return ctypes.string_at(library.vellum_quantized_model_bytes(self, ctypes.byref(size)), size.value)

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes the file; an existing one is replaced."""
        Path(file).write_bytes(self.onnx)

    @property
    def layers(self) -> tuple[QuantizedLayer, ...]:
        """The layers in the order of execution."""
        self._require_open()
        layers = []
        for index in range(library.vellum_quantized_model_layer_count(self)):
            found = sized(_c_api.vellum_quantized_layer)
            call(library.vellum_quantized_model_layer, self, index, ctypes.byref(found))
            ratios = found.low, found.high, found.own_ratio, found.network_ratio
            layers.append(QuantizedLayer(text(found.name), text(found.op), bool(found.in_integers), *ratios))
        return tuple(layers)

    @property
    def outputs(self) -> tuple[QuantizedOutput, ...]:
        """The outputs; empty if only weights are quantised."""
        self._require_open()
        outputs = []
        for index in range(library.vellum_quantized_model_output_count(self)):
            found = sized(_c_api.vellum_quantized_output)
            call(library.vellum_quantized_model_output, self, index, ctypes.byref(found))
            outputs.append(QuantizedOutput(text(found.name), found.ratio, found.error))
        return tuple(outputs)

    def svg(self, title: str) -> str:
        """The report as a picture: bars of the layers' signal to noise ratios."""
        return made_text(library.vellum_quantized_model_svg, self, title.encode())


def _inputs_of(model: Model, example: Example) -> dict[str, Any]:
    """The inputs of an example by name, with the initial values of variables."""
    variables = {info.name: info.initial_value for info in model.inputs if info.initial_value is not None}
    if isinstance(example, Mapping):
        return {**variables, **example}
    names = [info.name for info in model.inputs if info.initial_value is None]
    if len(names) != 1:
        raise Error(ErrorCode.INVALID_ARGUMENT, f"an example is an array, but the model has {len(names)} inputs; give them by name")
    return {**variables, names[0]: example}


def quantize(
    model: Model | ModelSource,
    device: DeviceLike = None,
    examples: Sequence[Example] = (),
    *,
    progress: Progress = False,
    **options: Unpack[QuantizeOptions],
) -> QuantizedModel:
    """Converts a model of floats to an ONNX file with 8-bit integers (docs/quantize.md).

    model, device: as for Session.
    examples: the inputs of some runs, by name, or arrays of a model's only input, in the model's own form. They are read
        several times, so a sequence may load each when it is asked for. Without them only weights can be quantised.
    progress: True: a line on the terminal; a function: called with the stage, what is done, and of how much.
    options: see QuantizeOptions.

    Ctrl-C, and exceptions in `examples` and `progress`, end it.
    """
    source = as_model(model)
    struct = defaults(_c_api.vellum_quantize_options)
    plain = {name: value for name, value in options.items() if name != "input_shapes"}
    set_options(struct, plain, QuantizeOptions)
    if "input_shapes" in options:
        shapes = c_input_shapes(options["input_shapes"])
        struct.input_shape_count, struct.input_shapes = len(shapes), shapes
    quantized = QuantizedModel()
    held: list[Any] = []  # the values of the last example, which the library reads before the next
    with Reporter(progress) as report, Callbacks() as callbacks:

        def load(index: int) -> None:
            held[:] = [c_shape_values(_inputs_of(source, examples[index]))]

        def on_example(index: int, inputs: Any, count: Any, _: object) -> int:
            if callbacks.run(load, index):
                return 1
            inputs[0], count[0] = ctypes.cast(held[0], type(inputs[0])), len(held[0])
            return 0

        def on_progress(stage: bytes, done: int, total: int, _: object) -> None:
            callbacks.run(report, text(stage), done, total)

        struct.progress = type(struct.progress)(on_progress)
        struct.should_stop = type(struct.should_stop)(lambda _: callbacks.ended)
        example = _c_api.vellum_quantize_example(on_example)
        quantized._make(library.vellum_quantize, as_device(device), source, len(examples), example, None, ctypes.byref(struct))
    return quantized
