"""What is claimed, shapes that change, options, threads and faults."""

import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import load_delegate
from conftest import LIBRARY, ModelBuilder, add_conv, assert_close, conv_model, on_host, random_inputs, run


def test_the_whole_model_is_one_part(delegated):
    model = conv_model()
    interpreter = delegated(model)
    assert delegated.report == "Vellum claims 4 of 4 nodes in 1 part\n"
    inputs = random_inputs(interpreter)
    assert_close(run(interpreter, inputs), run(on_host(model), inputs))


@pytest.mark.parametrize("is_open", [(0,), (0, 1, 2), None], ids=["batch", "size", "fixed"])
def test_inputs_may_be_resized(delegated, is_open):
    model = conv_model(is_open=is_open)
    interpreter, host = delegated(model), on_host(model)
    sizes = [(2, 16, 16), (1, 16, 16), (3, 16, 16)] if is_open == (0,) else [(1, 8, 24), (2, 16, 16), (1, 16, 16)]
    for size in sizes:
        for each in (interpreter, host):
            each.resize_tensor_input(each.get_input_details()[0]["index"], (*size, 3))
            each.allocate_tensors()
        inputs = random_inputs(interpreter, seed=sum(size))
        assert_close(run(interpreter, inputs), run(host, inputs))


def test_resized_before_the_delegate_sees_the_model(delegated):
    model = conv_model(is_open=(0,))
    interpreter, host = delegated(model, allocate=False), on_host(model)
    for each in (interpreter, host):
        each.resize_tensor_input(0, (4, 16, 16, 3))
        each.allocate_tensors()
    inputs = random_inputs(interpreter)
    assert_close(run(interpreter, inputs), run(host, inputs))


def islands(model):
    """BITCAST, which Vellum does not have; then a few nodes that are not worth a transfer."""
    for name in "efg":
        model.tensor(name, (1, 16, 16, 4))
    model.operator("BITCAST", ["d"], ["e"], schema.BitcastOptionsT())
    model.operator("EXP", ["e"], ["f"], schema.ExpOptionsT())
    model.operator("ABS", ["f"], ["g"], schema.AbsOptionsT())


def test_no_islands(delegated):
    model = conv_model(islands, outputs=["d", "g"])
    interpreter = delegated(model)
    assert "claims 4 of 7 nodes in 1 part" in delegated.report
    assert "BITCAST #4 'e': Vellum does not have this operator" in delegated.report
    assert "EXP #5 'f', ABS #6 'g': a part of 2 nodes is not worth a transfer" in delegated.report
    inputs = random_inputs(interpreter)
    assert_close(run(interpreter, inputs), run(on_host(model), inputs))


def test_several_parts(delegated):
    def tail(model):
        islands(model)
        for name, before in zip("hij", "ghi"):
            add_conv(model, before, name, (4, 4))

    model = conv_model(tail, outputs=["j"])
    interpreter = delegated(model)
    assert "claims 9 of 10 nodes in 2 parts" in delegated.report
    inputs = random_inputs(interpreter)
    assert_close(run(interpreter, inputs), run(on_host(model), inputs))


def test_claim_whole_claims_all_or_nothing(delegated):
    model = conv_model(islands, outputs=["g"])
    interpreter = delegated(model, claim="whole")
    assert "claims 0 of 7" in delegated.report
    inputs = random_inputs(interpreter)
    assert_close(run(interpreter, inputs), run(on_host(model), inputs))


def test_values_that_decide_shapes(delegated):
    model = ModelBuilder()
    model.tensor("x", (4, 6))
    model.tensor("shape", (2,), "int32")
    for name, shape in (("r", (4, 6)), ("s", (4, 6)), ("y", (4, 6))):
        model.tensor(name, shape)
    model.operator("RELU", ["x"], ["r"])
    model.operator("RESHAPE", ["r", "shape"], ["s"], schema.ReshapeOptionsT())
    model.operator("EXP", ["s"], ["y"], schema.ExpOptionsT())
    content = model.finish(["x", "shape"], ["y"])
    interpreter = delegated(content)
    assert "claims 3 of 3" in delegated.report
    for shape in [(3, 8), (24, 1), (2, 12), (3, 8)]:  # (LiteRT's own kernels keep the shape of the first run.)
        inputs = {"x": np.random.default_rng(1).random((4, 6), np.float32), "shape": np.array(shape, np.int32)}
        assert_close(run(interpreter, inputs), {"y": np.exp(inputs["x"]).reshape(shape)})


def lstm_model():
    """A sequence of 3 steps; two tensors keep the state from run to run."""
    rng, model, cells = np.random.default_rng(5), ModelBuilder(), 4
    model.tensor("x", (1, 3, 4))
    weights = [f"w{i}" for i in range(8)] + [f"b{i}" for i in range(4)]
    for name in weights:
        shape = (cells, cells) if name[0] == "w" else (cells,)
        model.tensor(name, shape, data=rng.standard_normal(shape) / 2)
    for name in ("hidden", "cell"):
        model.tensor(name, (1, cells), is_variable=True)
    model.tensor("y", (1, 3, cells))
    options = schema.UnidirectionalSequenceLSTMOptionsT()
    options.fusedActivationFunction = schema.ActivationFunctionType.TANH
    inputs = ["x", *weights[:8], None, None, None, *weights[8:], None, None, "hidden", "cell", None, None, None, None]
    model.operator("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, ["y"], options)
    return model.finish(["x"], ["y"])


def test_states_stay_in_the_interpreter(delegated):
    model = lstm_model()
    interpreter, host = delegated(model), on_host(model)
    assert "claims 1 of 1" in delegated.report
    first = None
    for seed in (1, 2, 3):
        inputs = random_inputs(interpreter, seed)
        results = run(interpreter, inputs)
        assert_close(results, run(host, inputs))
        first = first or (inputs, results)
    interpreter.reset_all_variables()
    np.testing.assert_array_equal(run(interpreter, first[0])["y"], first[1]["y"])


def volume_model():
    rng, model = np.random.default_rng(6), ModelBuilder()
    model.tensor("x", (1, 5, 7, 6, 3))
    model.tensor("w", (2, 3, 3, 3, 4), data=rng.standard_normal((2, 3, 3, 3, 4)) / 4)
    model.tensor("b", (4,), data=rng.standard_normal(4))
    model.tensor("y", (1, 5, 4, 2, 4))
    options = schema.Conv3DOptionsT()
    options.padding, options.fusedActivationFunction = schema.Padding.SAME, schema.ActivationFunctionType.RELU
    options.strideD, options.strideH, options.strideW = 1, 2, 3
    model.operator("CONV_3D", ["x", "w", "b"], ["y"], options)
    return model.finish(["x"], ["y"])


def recurrent_model(kind):
    """A layer of 4 cells that keeps its state from run to run."""
    rng, model, cells, rank, steps = np.random.default_rng(7), ModelBuilder(), 4, 2, 3

    def weights(name, *shape):
        return model.tensor(name, shape, data=rng.standard_normal(shape) / 2)

    sequence = kind == "UNIDIRECTIONAL_SEQUENCE_RNN"
    x = model.tensor("x", (1, steps, 5) if sequence else (1, 5))
    y = model.tensor("y", (1, steps, cells) if sequence else (1, cells))
    if kind == "SVDF":
        inputs = [x, weights("features", cells * rank, 5), weights("times", cells * rank, steps), weights("b", cells)]
        state, options = (1, cells * rank * steps), schema.SVDFOptionsT()
        options.rank = rank
    else:
        inputs = [x, weights("w", cells, 5), weights("r", cells, cells), weights("b", cells)]
        state, options = (1, cells), schema.SequenceRNNOptionsT() if sequence else schema.RNNOptionsT()
        options.fusedActivationFunction = schema.ActivationFunctionType.TANH
    model.operator(kind, [*inputs, model.tensor("state", state, is_variable=True)], [y], options)
    return model.finish(["x"], ["y"])


@pytest.mark.parametrize("model", [
    volume_model(), *map(recurrent_model, ("SVDF", "RNN", "UNIDIRECTIONAL_SEQUENCE_RNN"))],
    ids=["CONV_3D", "SVDF", "RNN", "SEQUENCE_RNN"])
def test_rarer_layers(delegated, model):
    interpreter, host = delegated(model), on_host(model)
    assert "claims 1 of 1" in delegated.report
    for seed in (1, 2):
        inputs = random_inputs(interpreter, seed)
        assert_close(run(interpreter, inputs), run(host, inputs))


@pytest.mark.parametrize("options", [
    {"precision": "fp16"}, {"storage": "image2d"}, {"memory": "offsets"}, {"memory_budget": "8MiB"},
    {"weights_budget": "64KiB"}, {"max_submit_ms": 1}, {"self_check": "on"}, {"cached_shapes": 1}])
def test_options(delegated, options):
    model = conv_model()
    interpreter = delegated(model, **options)
    inputs = random_inputs(interpreter)
    assert_close(run(interpreter, inputs), run(on_host(model), inputs), 5e-3 if "precision" in options else 1e-5)


@pytest.mark.parametrize("options, words", [
    ({"precison": "fp16"}, "there is no option 'precison'"), ({"precision": "fp8"}, "must be one of fp32, fp16"),
    ({"memory_budget": "many"}, "memory_budget=many"), ({"device": "no such device"}, "no such device")])
def test_faulty_options_are_one_clear_error(options, words):
    with pytest.raises(ValueError) as error:
        load_delegate(LIBRARY, options)
    assert "Vellum: " in str(error.value) and words in str(error.value)


def test_errors_come_through_the_interpreter(delegated):
    with pytest.raises(RuntimeError) as error:
        delegated(conv_model(), memory_budget="1KiB")
    assert "Vellum: " in str(error.value) and "budget" in str(error.value)


def test_profile_page(delegated, tmp_path):
    page = tmp_path / "page.html"
    interpreter = delegated(conv_model(), profile_html=str(page))
    run(interpreter, random_inputs(interpreter))
    assert "LiteRT" in page.read_text()


def test_threads(delegated):
    model = conv_model()
    interpreters = [delegated(model) for _ in range(3)]
    inputs = random_inputs(interpreters[0])
    expected, faults = run(on_host(model), inputs), []

    def work(interpreter):
        try:
            for _ in range(30):
                assert_close(run(interpreter, inputs), expected)
        except Exception as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=(each,)) for each in interpreters]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not faults, faults[0]


def run_program(text):
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(__file__)}
    return subprocess.run([sys.executable, "-B", "-c", textwrap.dedent(text)], env=environment, capture_output=True, text=True,
                          timeout=100)


def test_nothing_is_printed():
    result = run_program("""
        from conftest import *
        interpreter = interpreter_of(conv_model(), experimental_delegates=[load_delegate(LIBRARY, {"cache": ""})])
        interpreter.allocate_tensors()
        run(interpreter, random_inputs(interpreter))
    """)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "" and "ellum" not in result.stderr


def test_a_forked_process_is_told_so():
    result = run_program("""
        import os
        from conftest import *
        interpreter = interpreter_of(conv_model(), experimental_delegates=[load_delegate(LIBRARY, {"cache": ""})])
        interpreter.allocate_tensors()
        if os.fork() == 0:
            try:
                run(interpreter, random_inputs(interpreter))
            except RuntimeError as error:
                os._exit(7 if "forked" in str(error) else 8)
            os._exit(9)
        assert os.waitstatus_to_exitcode(os.wait()[1]) == 7
        run(interpreter, random_inputs(interpreter))
    """)
    assert result.returncode == 0, result.stderr
