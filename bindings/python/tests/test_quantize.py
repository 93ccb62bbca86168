"""Models of floats that become ONNX files with integers."""

from __future__ import annotations

import math

import numpy as np
import pytest
import vellum
from conftest import CtrlC
from docs_programs import means_of_any_picture
from vellum import ErrorCode


class Pictures:
    """Examples that are made when they are asked for."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.made: list[int] = []

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> dict[str, np.ndarray]:
        self.made.append(index)
        return {"input:0": np.random.default_rng(index).random((1, 128, 128, 3), np.float32)}


def noise(session: vellum.Session, integers: vellum.Session, inputs: dict[str, np.ndarray]) -> float:
    """The largest of the outputs, as a part of their root mean square."""
    exact, rounded = session.run(inputs), integers.run(inputs)
    return max(float(np.sqrt(np.square(rounded[name] - exact[name]).mean() / np.square(exact[name]).mean())) for name in exact)


def test_a_network_in_integers(device, face, session, tmp_path) -> None:
    pictures, stages = Pictures(3), []
    options = {"ranges": "percentile", "percentile": 99.9, "equalize": True}
    quantized = vellum.quantize(face, device, pictures, progress=lambda stage, done, total: stages.append((stage, done, total)), **options)
    assert {"network", "layers"} <= {stage for stage, _, _ in stages} and all(done <= total for _, done, total in stages)
    assert pictures.made.count(0) == pictures.made.count(2) > 2
    quantized.save(tmp_path / "integers.onnx")
    assert (tmp_path / "integers.onnx").read_bytes() == quantized.onnx
    layers = quantized.layers
    assert len(layers) > 20 and all(layer.in_integers and layer.low <= layer.high for layer in layers)
    assert [output.name for output in quantized.outputs] == [info.name for info in face.outputs]
    assert all(math.isclose(output.error, 10 ** (-output.ratio / 20), rel_tol=1e-3) for output in quantized.outputs)
    assert "a &lt; b" in quantized.svg("a < b")
    integers = vellum.Session(tmp_path / "integers.onnx", device)
    assert 0 < noise(session, integers, pictures[0]) < 3 * max(output.error for output in quantized.outputs)


def test_weights_alone_need_no_examples(device, face, session) -> None:
    quantized = vellum.quantize(face, device, weight_only_bits=8)
    assert quantized.outputs == () and len(quantized.layers) > 20
    assert noise(session, vellum.Session(quantized.onnx, device), Pictures(1)[0]) < 0.3


def test_arrays_of_the_only_input_and_open_dimensions(device) -> None:
    pool, picture = means_of_any_picture(), np.random.default_rng(3).random((1, 3, 28, 28), np.float32)
    quantized = vellum.quantize(pool, device, [picture], input_shapes={"x": picture.shape})
    assert quantized.layers == () or quantized.outputs[0].ratio > 10


def test_what_cannot_be_quantised(device, face) -> None:
    with pytest.raises(vellum.Error, match="at least one example") as raised:
        vellum.quantize(face, device)
    assert raised.value.code == ErrorCode.INVALID_ARGUMENT
    with pytest.raises(vellum.Error, match=r"ranges has no value 'mes' \(did you mean 'mse'\?\)"):
        vellum.quantize(face, device, Pictures(1), ranges="mes")
    with pytest.raises(TypeError, match="no option 'percentil'"):
        vellum.quantize(face, device, Pictures(1), percentil=99)


def test_exceptions_and_ctrl_c_end_it(device, face) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("in progress")

    with pytest.raises(ZeroDivisionError, match="in progress"):
        vellum.quantize(face, device, Pictures(2), progress=fail)

    class NoPictures(Pictures):
        def __getitem__(self, index: int) -> dict[str, np.ndarray]:
            raise FileNotFoundError("no picture")

    with pytest.raises(FileNotFoundError, match="no picture"):
        vellum.quantize(face, device, NoPictures(2))
    with pytest.raises(KeyboardInterrupt):
        vellum.quantize(face, device, Pictures(2), progress=CtrlC())
