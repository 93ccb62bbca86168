"""Signatures and variables of TFLite files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import vellum
from vellum import ErrorCode

STREAM = Path(__file__).parents[3] / "tests" / "data" / "tflite" / "stream.tflite"


def test_names_of_the_signature_stand_for_those_of_tensors(device: vellum.Device) -> None:
    model = vellum.Model(STREAM)
    assert model.signatures == ("accumulate", "reset")
    assert [(info.name, info.signature_name) for info in model.inputs] == [("serving_x:0", "in"), ("sum", "")]
    session = vellum.Session(model, device)
    x = np.array([1, 2], np.float32)
    given = {"in": x, "sum": np.zeros(2, np.float32)}
    assert session.run(given, ["out"])[0].tolist() == [1, 2]
    assert session.run(given)["PartitionedCall:0"].tolist() == [1, 2]
    with pytest.raises(vellum.Error, match="twice"):
        session.run({**given, "serving_x:0": x})


def test_one_of_several_signatures_is_chosen(device: vellum.Device) -> None:
    reset = vellum.Model(STREAM.read_bytes(), signature="reset")
    assert reset.signatures == ("reset", "accumulate")
    assert vellum.Session(reset, device).run({})["sum.next"].tolist() == [0, 0]
    with pytest.raises(vellum.Error, match="'accumulate', 'reset'") as raised:
        vellum.Model(STREAM, signature="train")
    assert raised.value.code == ErrorCode.NOT_FOUND


def test_bundles_are_made_for_a_signature(device: vellum.Device, tmp_path: Path) -> None:
    vellum.write_bundle(STREAM, tmp_path / "reset.vellum", signature="reset", device=device)
    assert vellum.Model(tmp_path / "reset.vellum").signatures == ("reset",)
    assert vellum.Model(vellum.bundle_in_memory(STREAM.read_bytes(), device=device)[0]).signatures == ("accumulate",)
    bundle = vellum.Model(vellum.bundle_in_memory(STREAM.read_bytes(), signature="reset", device=device)[0])
    assert vellum.Session(bundle, device).run({})["sum.next"].tolist() == [0, 0]
    with pytest.raises(vellum.Error, match="'accumulate', 'reset'"):
        vellum.write_bundle(STREAM, tmp_path / "train.vellum", signature="train", device=device)


def test_variables_are_handed_from_run_to_run(device: vellum.Device) -> None:
    session = vellum.Session(STREAM, device)
    state = {info.name: info.initial_value for info in session.inputs if info.initial_value is not None}
    assert state["sum"].tolist() == [10, 20]
    for expected in ([11, 22], [12, 24]):
        outputs = session.run({"in": np.array([1, 2], np.float32), **state})
        assert outputs["PartitionedCall:0"].tolist() == expected
        state = {name: outputs[name + ".next"] for name in state}
