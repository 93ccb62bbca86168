"""Small TFLite models, and interpreters with the delegate and without it."""

import os
import pathlib

import flatbuffers
import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, load_delegate

LIBRARY = os.environ["VELLUM_TFLITE_DELEGATE"]
DATA = pathlib.Path(os.environ.get("VELLUM_TEST_DATA", ""))
TYPES = {"float32": "FLOAT32", "int32": "INT32", "int64": "INT64", "int8": "INT8", "bool": "BOOL"}


class ModelBuilder:
    """Tensors are named; operators are added in the order in which they run."""

    def __init__(self):
        self.graph, self.model, self.ids = schema.SubGraphT(), schema.ModelT(), {}
        self.graph.tensors, self.graph.operators, self.model.operatorCodes = [], [], []
        self.model.version, self.model.buffers = 3, [schema.BufferT()]

    def tensor(self, name, shape, dtype="float32", data=None, is_open=None, is_variable=False):
        """is_open: the dimensions that the file leaves open."""
        tensor = schema.TensorT()
        tensor.name, tensor.shape, tensor.isVariable = name, list(shape), is_variable
        tensor.type = getattr(schema.TensorType, TYPES[dtype])
        if is_open is not None:
            tensor.shapeSignature = [-1 if i in is_open else d for i, d in enumerate(shape)]
        if data is not None:
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(np.ascontiguousarray(data, dtype).tobytes(), np.uint8)
            self.model.buffers.append(buffer)
            tensor.buffer = len(self.model.buffers) - 1
        self.ids[name] = len(self.graph.tensors)
        self.graph.tensors.append(tensor)
        return name

    def operator(self, kind, inputs, outputs, options=None):
        code = schema.OperatorCodeT()
        code.builtinCode, code.version = getattr(schema.BuiltinOperator, kind), 1
        code.deprecatedBuiltinCode = min(code.builtinCode, 127)
        self.model.operatorCodes.append(code)
        operator = schema.OperatorT()
        operator.opcodeIndex = len(self.model.operatorCodes) - 1
        operator.inputs = [-1 if name is None else self.ids[name] for name in inputs]
        operator.outputs = [self.ids[name] for name in outputs]
        if options is not None:
            operator.builtinOptions = options
            operator.builtinOptionsType = getattr(schema.BuiltinOptions, type(options).__name__[:-1])
        self.graph.operators.append(operator)

    def finish(self, inputs, outputs):
        self.graph.inputs, self.graph.outputs = [self.ids[n] for n in inputs], [self.ids[n] for n in outputs]
        self.model.subgraphs = [self.graph]
        builder = flatbuffers.Builder(1024)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


def add_conv(model, x, y, channels, activation="RELU", seed=1, shape=(1, 16, 16), is_open=None):
    """A 3x3 convolution with the same size of `x`, `channels` = (in, out)."""
    rng = np.random.default_rng(seed)
    weights = rng.standard_normal((channels[1], 3, 3, channels[0])).astype(np.float32) / 5
    model.tensor(y + "_w", weights.shape, data=weights)
    model.tensor(y + "_b", (channels[1],), data=rng.standard_normal(channels[1]))
    model.tensor(y, (*shape, channels[1]), is_open=is_open)
    options = schema.Conv2DOptionsT()
    options.strideW = options.strideH = 1
    options.padding = schema.Padding.SAME
    options.fusedActivationFunction = getattr(schema.ActivationFunctionType, activation)
    model.operator("CONV_2D", [x, y + "_w", y + "_b"], [y], options)


def conv_model(tail=None, outputs=("d",), is_open=None):
    """`d` of `x`: convolutions and a LOGISTIC; then what `tail` adds to the model."""
    model = ModelBuilder()
    model.tensor("x", (1, 16, 16, 3), is_open=is_open)
    add_conv(model, "x", "a", (3, 8), is_open=is_open)
    add_conv(model, "a", "b", (8, 8), "NONE", seed=2, is_open=is_open)
    model.tensor("c", (1, 16, 16, 8), is_open=is_open)
    model.operator("LOGISTIC", ["b"], ["c"])
    add_conv(model, "c", "d", (8, 4), seed=3, is_open=is_open)
    if tail:
        tail(model)
    return model.finish(["x"], outputs)


def interpreter_of(model, **arguments):
    source = {"model_content": model} if isinstance(model, bytes) else {"model_path": str(model)}
    return Interpreter(**source, num_threads=1, **arguments)


@pytest.fixture
def delegated(tmp_path):
    """A function that makes an interpreter with the delegate; its attribute `report` is what was claimed."""

    def make(model, allocate=True, **options):
        report = tmp_path / "claims.txt"
        texts = {"claim_report": str(report), "cache": "", **options}
        interpreter = interpreter_of(model, experimental_delegates=[load_delegate(LIBRARY, texts)])
        make.report = report.read_text()
        if allocate:
            interpreter.allocate_tensors()
        return interpreter

    return make


def on_host(model):
    interpreter = interpreter_of(model)
    interpreter.allocate_tensors()
    return interpreter


def random_inputs(interpreter, seed=1):
    rng = np.random.default_rng(seed)
    value = lambda d: (rng.random(d["shape"], np.float32) if d["dtype"] == np.float32 else
                       rng.integers(-100 if d["dtype"] == np.int8 else 0, 100, d["shape"]).astype(d["dtype"]))
    return {details["name"]: value(details) for details in interpreter.get_input_details()}


def run(interpreter, inputs):
    for details in interpreter.get_input_details():
        interpreter.set_tensor(details["index"], inputs[details["name"]])
    interpreter.invoke()
    return {details["name"]: interpreter.get_tensor(details["index"]) for details in interpreter.get_output_details()}


def assert_close(results, expected, tolerance=1e-5):
    assert results.keys() == expected.keys()
    for name, wanted in expected.items():
        assert results[name].dtype == wanted.dtype and results[name].shape == wanted.shape
        scale = max(1.0, float(np.abs(wanted).max())) if wanted.size else 1.0
        np.testing.assert_allclose(results[name], wanted, rtol=0, atol=tolerance * scale)
