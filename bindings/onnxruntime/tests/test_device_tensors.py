"""Tensors in memory that the GPU and the host share, as bound inputs and outputs."""

import os
import subprocess
import sys
import threading

import numpy as np
import onnxruntime
import onnxruntime_vellum
import pytest
from conftest import assert_equal, conv_model, model_of, on_host, random_inputs
from onnx import TensorProto, helper


def bound(session, inputs, outputs):
    binding = session.io_binding()
    for name, value in inputs.items():
        binding.bind_ortvalue_input(name, value)
    for name, value in outputs.items():
        binding.bind_ortvalue_output(name, value)
    return binding


def filled(array):
    value = onnxruntime_vellum.empty(array.shape, array.dtype)
    value.numpy()[...] = array
    return value


def test_values_are_seen_by_host_and_device(claimed):
    model = conv_model()
    session = claimed(model)
    x, y = onnxruntime_vellum.empty((1, 3, 32, 32)), onnxruntime_vellum.empty((1, 4, 32, 32))
    binding = bound(session, {"x": x}, {"y": y})
    for seed in range(3):
        x.numpy()[...] = np.random.default_rng(seed).random(x.shape(), np.float32)
        session.run_with_iobinding(binding)
        assert_equal([y.numpy()], on_host(model).run(None, {"x": x.numpy()}))


def test_one_session_reads_what_another_wrote(claimed):
    first, second = claimed(conv_model()), claimed(conv_model((1, 3, 32, 32)))
    x, y = filled(random_inputs(first)["x"]), onnxruntime_vellum.empty((1, 4, 32, 32))
    z = onnxruntime_vellum.empty((1, 4, 32, 32))
    first.run_with_iobinding(bound(first, {"x": x}, {"y": y}))
    part = filled(y.numpy()[:, :3])
    second.run_with_iobinding(bound(second, {"x": part}, {"y": z}))
    host = on_host(conv_model())
    assert_equal([z.numpy()], host.run(None, {"x": host.run(None, {"x": x.numpy()})[0][:, :3]}))


@pytest.mark.parametrize("which", ["inputs", "outputs"])
def test_some_tensors_in_host_memory(claimed, which):
    tail = [helper.make_node("Cast", ["y"], ["i"], to=TensorProto.INT64)]
    model = conv_model(tail=tail, outputs={"y": (TensorProto.FLOAT, None), "i": (TensorProto.INT64, None)})
    session, host = claimed(model), on_host(model)
    inputs = random_inputs(session)
    expected = host.run(None, inputs)
    y = onnxruntime_vellum.empty((1, 4, 32, 32))
    binding = session.io_binding()
    if which == "inputs":
        binding.bind_ortvalue_input("x", filled(inputs["x"]))
        binding.bind_output("y")
    else:
        binding.bind_cpu_input("x", inputs["x"])
        binding.bind_ortvalue_output("y", y)
    binding.bind_output("i")
    session.run_with_iobinding(binding)
    assert_equal(binding.copy_outputs_to_cpu() if which == "inputs" else [y.numpy(), expected[1]], expected)


def test_memory_of_the_application_on_the_host(claimed):
    """As ultralytics binds torch's tensors."""
    model = conv_model()
    session = claimed(model)
    x, y = random_inputs(session)["x"], np.zeros((1, 4, 32, 32), np.float32)
    binding = session.io_binding()
    binding.bind_output("y", "cpu", 0, np.float32, y.shape, y.ctypes.data)
    for _ in range(2):
        y[...] = 0
        binding.bind_input("x", "cpu", 0, np.float32, x.shape, x.ctypes.data)
        session.run_with_iobinding(binding)
        assert_equal([y], on_host(model).run(None, {"x": x}))


def test_integers_of_eight_bytes_are_copied(claimed):
    model = model_of([helper.make_node("Add", ["x", "x"], ["a"]), helper.make_node("Mul", ["a", "x"], ["b"]),
                      helper.make_node("Sub", ["b", "x"], ["y"])],
                     {"x": (TensorProto.INT64, [3, 5])}, {"y": (TensorProto.INT64, [3, 5])})
    session = claimed(model, claim="all")
    x, y = filled(np.arange(15).reshape(3, 5)), onnxruntime_vellum.empty((3, 5), np.int64)
    session.run_with_iobinding(bound(session, {"x": x}, {"y": y}))
    np.testing.assert_array_equal(y.numpy(), 2 * x.numpy() ** 2 - x.numpy())


def test_shapes_may_change_and_memory_may_be_freed(claimed):
    model = conv_model(("n", 3, "h", "w"))
    session, host = claimed(model), on_host(model)
    for turn in range(12):
        n, h = 1 + turn % 2, 8 + turn
        x = filled(np.random.default_rng(turn).random((n, 3, h, 16), np.float32))
        y = onnxruntime_vellum.empty((n, 4, h, 16))
        session.run_with_iobinding(bound(session, {"x": x}, {"y": y}))
        assert_equal([y.numpy()], host.run(None, {"x": x.numpy()}))


def test_input_may_be_the_output(claimed):
    nodes = [helper.make_node(op, [x], [y]) for op, x, y in (("Relu", "x", "a"), ("Exp", "a", "b"), ("Neg", "b", "y"))]
    model = model_of(nodes, {"x": (TensorProto.FLOAT, [2, 8])}, {"y": (TensorProto.FLOAT, [2, 8])})
    session = claimed(model, claim="all")
    x = filled(np.random.default_rng(1).standard_normal((2, 8)).astype(np.float32))
    expected = -np.exp(np.maximum(x.numpy(), 0))
    session.run_with_iobinding(bound(session, {"x": x}, {"y": x}))
    assert_equal([x.numpy()], [expected])


@pytest.mark.parametrize("options", [
    {"weights_budget": "64KiB"}, {"memory_budget": "8MiB"}, {"precision": "fp16"}, {"cache": ""}])
def test_options(claimed, options):
    model = conv_model()
    session = claimed(model, **options)
    x, y = filled(random_inputs(session)["x"]), onnxruntime_vellum.empty((1, 4, 32, 32))
    session.run_with_iobinding(bound(session, {"x": x}, {"y": y}))
    assert_equal([y.numpy()], on_host(model).run(None, {"x": x.numpy()}), 5e-3 if "precision" in options else 1e-5)


def test_threads_with_both_kinds_of_tensors(claimed):
    model = conv_model()
    session, faults = claimed(model), []
    inputs = random_inputs(session)
    expected = on_host(model).run(None, inputs)

    def work(in_place):
        try:
            x, y = filled(inputs["x"]), onnxruntime_vellum.empty((1, 4, 32, 32))
            binding = bound(session, {"x": x}, {"y": y})
            for _ in range(40):
                if in_place:
                    y.numpy()[...] = 0
                    session.run_with_iobinding(binding)
                assert_equal([y.numpy()] if in_place else session.run(None, inputs), expected)
        except Exception as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=(n % 2 == 0,)) for n in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not faults, faults[0]


PROGRAM = """
import sys
sys.path.insert(0, {folder!r})
from conftest import *
onnxruntime.set_default_logger_severity(1)
session = onnxruntime.InferenceSession(conv_model(), providers=[(onnxruntime_vellum.NAME, {options})], enable_fallback=0)
x, y = onnxruntime_vellum.empty((1, 3, 32, 32)), onnxruntime_vellum.empty((1, 4, 32, 32))
binding = session.io_binding()
binding.bind_ortvalue_input("x", x)
binding.bind_ortvalue_output("y", y)
session.run_with_iobinding(binding)
session.run_with_iobinding(binding)
"""


@pytest.mark.parametrize("options, line", [
    ({}, "Vellum uses 1 inputs and 1 outputs in the application's memory"),
    ({"weights_budget": "64KiB"}, "Vellum copies tensors of the application's memory")])
def test_the_log_says_whether_memory_is_used_in_place(options, line):
    result = subprocess.run([sys.executable, "-B", "-c", PROGRAM.format(folder=os.path.dirname(__file__), options=options)],
                            capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    assert result.stderr.count(line) == 1, result.stderr[-3000:]
