"""State that stays on the device."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import vellum

sys.path.append(str(Path(__file__).parents[3] / "tests" / "hostile"))
from onnx_writer import graph, model, node, value_info


def running_sum() -> bytes:
    """sum.next = sum + x, y = sum.next + x."""
    nodes = [node("Add", ["sum", "x"], ["sum.next"]), node("Add", ["sum.next", "x"], ["y"])]
    return model(graph(nodes, [value_info("x", [3]), value_info("sum", [3])], [value_info(n, [3]) for n in ("y", "sum.next")], []))


def test_runs_continue_it(device: vellum.Device) -> None:
    session = vellum.Session(running_sum(), device, state="auto")
    x = np.array([1, -2, 3], np.float32)
    assert session.states == {"sum": "sum.next"}
    for i in (1, 2):
        outputs = session.run({"x": x})
        assert list(outputs) == ["y"]
        assert np.array_equal(outputs["y"], (i + 1) * x)
    assert np.array_equal(session.submit({"x": x}).result()["y"], 4 * x)
    assert np.array_equal(session.state("sum"), 3 * x)
    with pytest.raises(vellum.Error, match="is state"):
        session.run({"x": x, "sum": x})


def test_it_is_set_reset_saved_and_restored(device: vellum.Device) -> None:
    session, other = (vellum.Session(running_sum(), device, state="sum=sum.next") for _ in range(2))
    x = np.array([1, -2, 3], np.float32)
    session.run({"x": x})
    saved = session.save_state()
    session.set_state("sum", 5 * x)
    assert np.array_equal(session.run(["y"], {"x": x})[0], 7 * x)
    for one in (session, other):
        one.restore_state(saved)
        assert np.array_equal(one.state("sum.next"), x)
    session.reset_state()
    assert not session.state("sum").any()
    with pytest.raises(vellum.Error, match="no state"):
        session.state("x")
    with pytest.raises(vellum.Error, match="shape"):
        session.set_state("sum", np.zeros(4, np.float32))
