"""MediaPipe's models: the delegate claims all nodes and computes what a session of Vellum computes, bit for bit."""

import numpy as np
import pytest
import vellum
from conftest import DATA, random_inputs, run

MODELS = sorted((DATA / "models").glob("*.tflite"))
QUANTISED = [DATA / "references" / name / "model.tflite" for name in ("face_detection_short_int8", "face_detection_short_uint8")]
CUSTOM = [DATA / "references" / "mediapipe_pools" / "model.tflite"]


def test_there_are_models():
    assert len(MODELS) == 17 or not MODELS


@pytest.mark.parametrize("model", MODELS + [path for path in QUANTISED + CUSTOM if path.exists()],
                         ids=lambda path: path.parent.name if path.stem == "model" else path.stem)
def test_results_are_those_of_vellum(delegated, model):
    interpreter = delegated(model)
    inputs = random_inputs(interpreter)
    results = run(interpreter, inputs)
    expected = vellum.Session(str(model), vellum.Device(cache_folder="")).run(inputs)
    assert "in 1 part\n" in delegated.report and "not claimed" not in delegated.report
    for name, value in results.items():
        assert value.dtype == expected[name].dtype
        np.testing.assert_array_equal(value, expected[name])
