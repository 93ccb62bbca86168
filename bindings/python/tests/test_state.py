"""State that stays on the device."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import vellum

sys.path.append(str(Path(__file__).parents[3] / "tests" / "hostile"))
from onnx_writer import graph, model, node, tensor, value_info


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
    assert np.array_equal(session.run(x)["y"], 5 * x)  # the only input that is no state
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


def counter() -> bytes:
    """next = 3 token + 1, sum.next = sum + token. From 0: 1, 4, 13, 40, 121, ..."""
    nodes = [
        node("Add", ["token", "token"], ["twice"]),
        node("Add", ["twice", "token"], ["thrice"]),
        node("Add", ["thrice", "one"], ["next"]),
        node("Add", ["sum", "token"], ["sum.next"]),
    ]
    ports = [[value_info(name, [1], 7) for name in names] for names in (("token", "sum"), ("next", "sum.next"))]
    return model(graph(nodes, *ports, [tensor("one", [1], [1])]))


def test_steps_follow_one_another_on_the_device(device: vellum.Device) -> None:
    session = vellum.Session(counter(), device, state="auto")
    loop = session.bind_steps(9, feedback={"next": "token"}, step_outputs=["next"], steps_per_submit=2)
    reported: list[int] = []
    results = session.run_steps(loop, {"token": np.zeros(1, np.int64)}, progress=reported.append)
    assert results.steps == 9 and not results.ended
    assert reported == [2, 4, 6, 8, 9]
    assert results.outputs["next"][:5, 0].tolist() == [1, 4, 13, 40, 121]
    stopped = session.run_steps(loop, {"token": np.zeros(1, np.int64)}, progress=lambda steps: steps < 2)
    assert stopped.steps == 4 and stopped.outputs["next"].shape == (4, 1)
    with pytest.raises(ZeroDivisionError):
        session.run_steps(loop, progress=lambda steps: 1 // 0)
    session.reset_state()
    loop = session.bind_steps(9, feedback={"next": "token"}, end_output="next", end_values=[7, 40])
    results = session.run_steps(loop, {"token": np.zeros(1, np.int64)})
    assert results.steps == 4 and results.ended
    assert session.state("sum").tolist() == [0 + 1 + 4 + 13]
    loop = session.bind_steps(2, step_inputs=["token"], step_outputs=["next"])
    assert session.run_steps(loop, {"token": np.array([[2], [5]])}).outputs["next"].tolist() == [[7], [16]]
    with pytest.raises(vellum.Error, match="2x1"):
        session.run_steps(loop, {"token": np.array([2])})
