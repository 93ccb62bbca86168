"""EPContext models: the compiled form of a model, which starts without compiling."""

import numpy as np
import onnx
import onnxruntime
import onnxruntime_vellum
import pytest
from conftest import MODELS, assert_equal, conv_model, on_host, random_inputs
from onnx import TensorProto, helper


def compile_to(path, model, embed, **options):
    settings = onnxruntime.SessionOptions()
    for name, value in {"enable": "1", "file_path": str(path), "embed_mode": str(embed)}.items():
        settings.add_session_config_entry("ep.context_" + name, value)
    texts = {name: str(value) for name, value in options.items()}
    return onnxruntime.InferenceSession(model, settings, providers=[(onnxruntime_vellum.NAME, texts)], enable_fallback=0)


def load(path, **options):
    return onnxruntime.InferenceSession(str(path), providers=[(onnxruntime_vellum.NAME, options)], enable_fallback=0)


@pytest.mark.parametrize("embed", [0, 1])
def test_compiled_model_gives_the_same_results(tmp_path, embed):
    model = str(MODELS / "face_detection_front_128x128_barracuda.onnx")
    session = compile_to(tmp_path / "compiled.onnx", model, embed)
    nodes = onnx.load(tmp_path / "compiled.onnx").graph.node
    assert [node.op_type for node in nodes] == ["EPContext"]
    assert len(list(tmp_path.glob("*.vellum"))) == 1 - embed
    compiled = load(tmp_path / "compiled.onnx")
    inputs = random_inputs(session)
    assert [r.tobytes() for r in compiled.run(None, inputs)] == [r.tobytes() for r in session.run(None, inputs)]


def test_rest_of_the_model_stays_and_shapes_stay_open(tmp_path):
    tail = [helper.make_node("NonZero", ["y"], ["z"], name="places")]
    model = conv_model(("n", 3, "h", "w"), tail=tail, outputs={"y": (TensorProto.FLOAT, None), "z": (TensorProto.INT64, None)})
    compile_to(tmp_path / "compiled.onnx", model, 1)
    compiled, host = load(tmp_path / "compiled.onnx"), on_host(model)
    for shape in [(1, 3, 24, 32), (2, 3, 9, 7)]:
        inputs = {"x": np.random.default_rng(1).random(shape, np.float32)}
        assert_equal(compiled.run(None, inputs), host.run(None, inputs))


def test_damaged_bundle_is_one_clear_error(tmp_path):
    compile_to(tmp_path / "compiled.onnx", conv_model(), 0)
    bundle, = tmp_path.glob("*.vellum")
    bundle.write_bytes(bundle.read_bytes()[:100])
    with pytest.raises(Exception, match="Vellum: "):
        load(tmp_path / "compiled.onnx")
    bundle.unlink()
    with pytest.raises(Exception, match="Vellum: .*no such file"):
        load(tmp_path / "compiled.onnx")


def test_bundle_outside_the_folder_is_refused(tmp_path):
    compile_to(tmp_path / "compiled.onnx", conv_model(), 0)
    model = onnx.load(tmp_path / "compiled.onnx")
    for attribute in model.graph.node[0].attribute:
        if attribute.name == "ep_cache_context":
            attribute.s = b"../" + attribute.s
    onnx.save(model, tmp_path / "compiled.onnx")
    with pytest.raises(Exception, match="beside the model"):
        load(tmp_path / "compiled.onnx")
