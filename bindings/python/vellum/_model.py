"""Models."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from . import _c_api
from ._frame import FrameInput, c_frame_input
from ._html import table
from ._library import Handle, call, defaults, library, made_text, sized, text
from ._option_types import LoadLimits
from ._options import c_input_shapes, set_options
from ._picture import PictureOutput, c_picture_output
from ._tensor import TensorInfo, find_info, read_infos, read_shape

ModelSource = str | os.PathLike[str] | bytes | bytearray | memoryview


@dataclass(frozen=True)
class NodeInfo:
    """A node of a model, as in its file."""

    name: str
    op: str
    attributes: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    output_shapes: tuple[tuple[int | None, ...], ...]
    parameters: int  # elements of constant inputs
    macs: int  # multiply-accumulates; 0 if shapes are not known


def _c_limits(limits: LoadLimits) -> _c_api.vellum_load_limits:
    struct = defaults(_c_api.vellum_load_limits)
    set_options(struct, vars(limits), LoadLimits)
    return struct


class Model(Handle):
    """An ONNX model, a TFLite model or a bundle of write_bundle(), recognised by its content. For any number of threads."""

    def __init__(self, source: ModelSource, *, limits: LoadLimits = LoadLimits(), signature: str | None = None) -> None:
        """Reads a file, or the bytes of one, which may be freed afterwards.

        signature: which of a TFLite file's; None: "serving_default" or, if there is none, the first.

        Raises Error: NOT_FOUND, also for an unknown signature, IO, CORRUPT_MODEL, or UNSUPPORTED for a file that is no
        model or exceeds the limits.
        """
        super().__init__(library.vellum_model_destroy)
        c_limits = ctypes.byref(_c_limits(limits))
        wanted = None if signature is None else signature.encode()
        if isinstance(source, (str, os.PathLike)):
            self._make(library.vellum_model_load_signature, os.fspath(source).encode(), c_limits, wanted)
        else:
            try:
                content = np.frombuffer(source, np.uint8)
            except TypeError:
                raise TypeError(f"a model is a path, or the bytes of a file, not {type(source).__name__}") from None
            self._make(library.vellum_model_load_bytes_signature, content.ctypes.data, content.size, c_limits, wanted)
        self._read({})

    def _read(self, frames: Mapping[str, FrameInput]) -> None:
        self.frames = frames
        self.inputs = read_infos(library.vellum_model_input_count, library.vellum_model_input, self)
        self.outputs = read_infos(library.vellum_model_output_count, library.vellum_model_output, self)
        count = library.vellum_model_signature_count(self)
        self.signatures = tuple(text(library.vellum_model_signature(self, index)) for index in range(count))  # the one read first

    def with_frames(self, name: str, frame: FrameInput) -> Model:
        """Makes a model whose input `name` takes camera frames or pictures in bytes.

        What the network sees of a frame is `frame.transform` or, if that is None, the input "NAME.transform", which
        takes a FrameTransform. Raises Error: NOT_FOUND for an unknown input, UNSUPPORTED for one that is no image.
        """
        framed = Model.__new__(Model)
        Handle.__init__(framed, library.vellum_model_destroy)
        framed._make(library.vellum_model_with_frames, self, name.encode(), ctypes.byref(c_frame_input(frame)))
        framed._read({**self.frames, find_info(self.inputs, name, "input").name: frame})
        return framed

    def with_picture(self, name: str, picture: PictureOutput) -> Model:
        """Makes a model whose output `name` is a picture that the device makes of it: uint8 [height, width, 4].

        Session.run() returns it as an array that PIL.Image.fromarray() and matplotlib's imshow() take. Raises Error: NOT_FOUND
        for an unknown output, UNSUPPORTED for one that makes no picture, INVALID_ARGUMENT for a picture that contradicts
        itself.
        """
        pictured = Model.__new__(Model)
        Handle.__init__(pictured, library.vellum_model_destroy)
        pictured._make(library.vellum_model_with_picture, self, name.encode(), ctypes.byref(c_picture_output(picture)))
        pictured._read(self.frames)
        return pictured

    def nodes(self, shapes: Mapping[str, Sequence[int]] | None = None) -> list[NodeInfo]:
        """The nodes in execution order, with shapes inferred for these input shapes."""
        array = c_input_shapes(shapes or {})
        with Handle(library.vellum_node_list_destroy)._make(library.vellum_node_list_create, self, array, len(array)) as nodes:
            return [_node(nodes, index) for index in range(library.vellum_node_list_count(nodes))]

    def __repr__(self) -> str:
        def names(infos: tuple[TensorInfo, ...]) -> str:
            return ", ".join(f"{info.name} {describe(info)}" for info in infos)

        return f"<vellum.Model: {names(self.inputs)} -> {names(self.outputs)}>"

    def _repr_html_(self) -> str:
        rows = [["input", info.name, describe(info)] for info in self.inputs]
        rows += [["output", info.name, describe(info)] for info in self.outputs]
        return table("Model", ["", "name", "type"], rows)


def graph_passes() -> list[str]:
    """The names of the graph passes that `disabled_passes` may leave out."""
    return made_text(library.vellum_graph_passes).split()


def _node(nodes: Handle, index: int) -> NodeInfo:
    info = sized(_c_api.vellum_node_info)
    call(library.vellum_node_list_get, nodes, index, ctypes.byref(info))
    return NodeInfo(
        name=text(info.name),
        op=text(info.op),
        attributes=text(info.attributes),
        inputs=tuple(text(name) for name in info.inputs[: info.input_count]),
        outputs=tuple(text(name) for name in info.outputs[: info.output_count]),
        output_shapes=tuple(read_shape(shape) for shape in info.output_shapes[: info.output_count]),
        parameters=info.parameters,
        macs=info.macs,
    )


def describe(info: TensorInfo) -> str:
    """`float32[1,3,?,?]`"""
    return f"{info.dtype}[{','.join('?' if dim is None else str(dim) for dim in info.shape)}]"


def as_model(model: Model | ModelSource) -> Model:
    return model if isinstance(model, Model) else Model(model)
