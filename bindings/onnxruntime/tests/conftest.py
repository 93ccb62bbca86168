"""Small models, and sessions of both providers on them."""

import os
import pathlib

import numpy as np
import onnxruntime
import onnxruntime_vellum
import pytest
from onnx import TensorProto, helper, numpy_helper

onnxruntime.set_default_logger_severity(3)
onnxruntime_vellum.register()
MODELS = pathlib.Path(os.environ.get("VELLUM_TEST_DATA", "")) / "models"


def model_of(nodes, inputs, outputs, initializers=None, opset=17):
    """inputs, outputs: name -> (element type, shape)"""
    values = lambda named: [helper.make_tensor_value_info(name, *type_and_shape) for name, type_and_shape in named.items()]
    weights = [numpy_helper.from_array(array, name) for name, array in (initializers or {}).items()]
    graph = helper.make_graph(nodes, "test", values(inputs), values(outputs), weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)
    return model.SerializeToString()


def conv_model(shape=(1, 3, 32, 32), tail=(), outputs=None, **more):
    """Convolutions and activations, `y`; then the nodes `tail`, and the outputs of these."""
    rng = np.random.default_rng(7)
    weights = {"w": rng.standard_normal((8, 3, 3, 3)).astype(np.float32) / 5, "b": rng.standard_normal(8).astype(np.float32),
               "v": rng.standard_normal((4, 8, 3, 3)).astype(np.float32) / 8}
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], pads=[1, 1, 1, 1], name="first"),
        helper.make_node("Relu", ["c"], ["r"], name="relu"),
        helper.make_node("Conv", ["r", "v"], ["d"], pads=[1, 1, 1, 1], name="second"),
        helper.make_node("Sigmoid", ["d"], ["y"], name="sigmoid"),
        *tail,
    ]
    return model_of(nodes, {"x": (TensorProto.FLOAT, shape), **more.get("inputs", {})},
                    outputs or {"y": (TensorProto.FLOAT, None)}, {**weights, **more.get("initializers", {})})


@pytest.fixture
def claimed(tmp_path):
    """A function that makes a session with the provider; its attribute `report` is what was claimed."""

    def make(model, disable_fallback=False, **options):
        report = tmp_path / "claims.txt"
        settings = onnxruntime.SessionOptions()
        if disable_fallback:
            settings.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
        texts = {"claim_report": str(report), **{name: str(value) for name, value in options.items()}}
        session = onnxruntime.InferenceSession(model, settings, providers=[(onnxruntime_vellum.NAME, texts)],
                                               enable_fallback=0)
        make.report = report.read_text()
        return session

    return make


def on_host(model):
    return onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])


def random_inputs(session, size=32, seed=1):
    rng = np.random.default_rng(seed)
    shape = lambda value: [d if isinstance(d, int) and d > 0 else (1 if i == 0 else size) for i, d in enumerate(value.shape)]
    return {value.name: rng.random(shape(value), np.float32) for value in session.get_inputs()}


def assert_equal(results, expected, tolerance=1e-5):
    assert len(results) == len(expected)
    for result, wanted in zip(results, expected):
        assert result.dtype == wanted.dtype and result.shape == wanted.shape
        scale = max(1.0, float(np.abs(wanted).max())) if wanted.size else 1.0
        np.testing.assert_allclose(result, wanted, rtol=0, atol=tolerance * scale)
