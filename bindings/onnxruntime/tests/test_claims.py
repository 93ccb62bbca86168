"""Which nodes the provider claims, and that results are those of the CPU provider."""

import numpy as np
import pytest
from conftest import MODELS, assert_equal, conv_model, model_of, on_host, random_inputs
from onnx import TensorProto, helper


@pytest.mark.parametrize("name, size", [
    ("face_detection_front_128x128_barracuda", 0), ("mlsd_320x320_tiny", 0), ("ch_ppocr_mobile_v2.0_cls_infer", 48),
    ("ch_PP-OCRv4_det_infer", 96), ("ch_PP-OCRv4_rec_infer", 48)])
def test_whole_model_runs_on_the_device(claimed, name, size):
    model = str(MODELS / (name + ".onnx"))
    session = claimed(model, disable_fallback=True)
    inputs = random_inputs(session, size)
    if name.startswith("mlsd"):
        inputs = {key: 255 * value for key, value in inputs.items()}
    results, expected = session.run(None, inputs), on_host(model).run(None, inputs)
    if name.startswith("mlsd"):  # an element that ties with a neighbour within rounding may be either
        for result, wanted in zip(results, expected):
            assert np.quantile(np.abs(result - wanted), 0.99) < 1e-2
    else:
        assert_equal(results, expected, 1e-4)
    assert "not claimed" not in claimed.report


def test_shapes_may_change_between_runs(claimed):
    model = conv_model(("n", 3, "h", "w"))
    session, host = claimed(model), on_host(model)
    assert claimed.report.startswith("Vellum claims 4 of 4 nodes in 1 part")
    for shape in [(1, 3, 32, 32), (2, 3, 16, 24), (1, 3, 7, 9), (1, 3, 32, 32), (3, 3, 8, 8), (1, 3, 5, 64), (2, 3, 16, 24)]:
        inputs = {"x": np.random.default_rng(sum(shape)).random(shape, np.float32)}
        assert_equal(session.run(None, inputs), host.run(None, inputs))


def test_values_that_decide_shapes(claimed):
    nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Reshape", ["r", "shape"], ["s"]),
             helper.make_node("Exp", ["s"], ["y"])]
    model = model_of(nodes, {"x": (TensorProto.FLOAT, [4, 6]), "shape": (TensorProto.INT64, [2])},
                     {"y": (TensorProto.FLOAT, [None, None])})
    session, host = claimed(model), on_host(model)
    for shape in [(3, 8), (24, 1), (2, 12), (3, 8)]:
        inputs = {"x": np.random.default_rng(1).random((4, 6), np.float32), "shape": np.array(shape, np.int64)}
        assert_equal(session.run(None, inputs), host.run(None, inputs))


def test_data_dependent_results_stay_with_the_runtime(claimed):
    tail = [helper.make_node("NonZero", ["y"], ["places"], name="places"),
            helper.make_node("Transpose", ["places"], ["z"], perm=[1, 0], name="after")]
    model = conv_model(tail=tail, outputs={"y": (TensorProto.FLOAT, None), "z": (TensorProto.INT64, None)})
    session, host = claimed(model), on_host(model)
    assert "claims 4 of 6 nodes in 1 part" in claimed.report
    assert "NonZero 'places': only a run determines the shapes of its results" in claimed.report
    inputs = random_inputs(session)
    assert_equal(session.run(None, inputs), host.run(None, inputs))


def test_operators_without_kernel_divide_the_model(claimed):
    # DeformConv-like: an operator that Vellum computes on its host only, in the middle.
    more = [helper.make_node("Det", ["y"], ["m"], name="det")]
    model = conv_model(tail=more, outputs={"m": (TensorProto.FLOAT, None)})
    session, host = claimed(model), on_host(model)
    inputs = random_inputs(session)
    assert_equal(session.run(None, inputs), host.run(None, inputs), 1e-4)


def test_no_islands_of_few_nodes(claimed):
    tail = [helper.make_node("NonZero", ["y"], ["p"], name="nonzero"), helper.make_node("Cast", ["p"], ["f"], to=1),
            helper.make_node("ReduceSum", ["f"], ["s"], keepdims=0), helper.make_node("Relu", ["s"], ["t"], name="island"),
            helper.make_node("Exp", ["t"], ["z"], name="exp")]
    model = conv_model(tail=tail, outputs={"z": (TensorProto.FLOAT, None)})
    session, host = claimed(model), on_host(model)
    assert "claims 4 of 9 nodes in 1 part" in claimed.report
    inputs = random_inputs(session)
    assert_equal(session.run(None, inputs), host.run(None, inputs))


def test_control_flow_stays_with_the_runtime(claimed):
    branch = lambda name, op: helper.make_graph(
        [helper.make_node(op, ["y"], [name])], name, [], [helper.make_tensor_value_info(name, TensorProto.FLOAT, None)])
    tail = [helper.make_node("If", ["flag"], ["z"], then_branch=branch("a", "Relu"), else_branch=branch("o", "Neg"), name="if")]
    model = conv_model(tail=tail, outputs={"z": (TensorProto.FLOAT, None)}, inputs={"flag": (TensorProto.BOOL, [])})
    session, host = claimed(model), on_host(model)
    assert "If 'if'" in claimed.report and "claims 4 of 5" in claimed.report
    for flag in (True, False):
        inputs = {"x": np.random.default_rng(3).random((1, 3, 32, 32), np.float32), "flag": np.array(flag)}
        assert_equal(session.run(None, inputs), host.run(None, inputs))


def test_claim_whole_claims_all_or_nothing(claimed):
    tail = [helper.make_node("NonZero", ["y"], ["z"], name="places")]
    model = conv_model(tail=tail, outputs={"z": (TensorProto.INT64, None)})
    claimed(model, claim="whole")
    assert "claims 0 of 5" in claimed.report
    claimed(model, claim="all")
    assert "claims 4 of 5" in claimed.report
