"""Outputs that the host computes: where their shapes are known before the run, they are outputs like any other."""

from __future__ import annotations

from pathlib import Path

import host_models
import numpy as np
import pytest
import vellum
from conftest import same
from vellum import ErrorCode

Arrays = dict[str, np.ndarray]


def picture_of(x: np.ndarray) -> Arrays:
    places = x.max(axis=3) > 0.5
    picture = x.copy()
    picture[places] = -x[places]
    values = -x[places]
    return {"picture": picture, "values": values, "early": np.maximum(x, 0), "size": np.array(values.shape)}


def numbers(seed: int, shape: tuple[int, ...] = (2, 4, 6, 5)) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 0.7, shape).astype(np.float32)


def test_the_file_is_the_model() -> None:
    file = Path(__file__).parents[3] / "tests" / "data" / "onnx" / "picture_of_places.onnx"
    assert file.read_bytes() == host_models.picture()


@pytest.mark.parametrize("options", [{}, {"in_flight": 3}, {"profile": True}, {"precision": "fp16"}])
def test_they_are_all_or_some_or_written_in_place(device, options) -> None:
    session = vellum.Session(host_models.picture(), device, **options)
    exact = [name for name in ("picture", "values", "size") if "precision" not in options]
    for seed in range(4):
        x = numbers(seed)
        expected = picture_of(x)
        results = session.run({"x": x})
        assert list(results) == ["picture", "values", "early", "size"]
        for name in exact:
            assert results[name].tobytes() == expected[name].tobytes() and results[name].shape == expected[name].shape, name
        size, values, picture = session.run({"x": x}, ["size", "values", "picture"])
        assert same({"size": size, "values": values, "picture": picture}, {k: results[k] for k in ("size", "values", "picture")})
        mine = {"picture": np.full(x.shape, 9, np.float32), "size": np.zeros(2, np.int64), "early": np.empty_like(x)}
        returned = session.run({"x": x}, mine)
        assert returned["picture"] is mine["picture"] and same(returned, {name: results[name] for name in mine})


def test_runs_in_flight_give_them(device) -> None:
    session = vellum.Session(host_models.picture(), device, in_flight=3)
    inputs = [numbers(seed) for seed in range(6)]
    runs = [session.submit({"x": x}) for x in inputs]
    mine = [np.empty_like(x) for x in inputs]
    written = [session.submit({"x": x}, {"picture": array}) for x, array in zip(inputs, mine)]
    for x, run, into, array in zip(inputs, runs, written, mine):
        assert same(run.result(), picture_of(x))
        assert into.result()["picture"] is array and np.array_equal(array, picture_of(x)["picture"])
    tried = session.try_submit({"x": inputs[0]}, ["size", "picture"])
    assert tried is not None and np.array_equal(tried.result()[1], picture_of(inputs[0])["picture"])


def test_they_follow_the_shapes_of_inputs(device) -> None:
    session = vellum.Session(host_models.picture("n"), device)
    for seed, batch in enumerate((1, 3, 1, 2)):
        x = numbers(seed, (batch, 4, 6, 5))
        assert same(session.run({"x": x}), picture_of(x))
        assert session.outputs[0].shape == x.shape and session.outputs[1].shape == (None, 5)


def test_suppression_padded_to_a_fixed_number(device) -> None:
    session = vellum.Session(host_models.detector(), device, in_flight=2)
    assert [info.shape for info in session.outputs] == [(4, 3), (1,), (None, 3)]
    boxes = np.array([[[i, i, i + 1, i + 1] for i in range(6)]], np.float32)
    for kept in ([0, 2, 5], [], [1], [0, 1, 2, 3]):
        scores = np.zeros((1, 1, 6), np.float32)
        scores[0, 0, kept] = 0.9
        padded = np.full((4, 3), -1)
        padded[: len(kept)] = np.array([[0, 0, index] for index in kept]).reshape(-1, 3)
        results = session.run({"boxes": boxes, "scores": scores})
        assert np.array_equal(results["padded"], padded) and results["count"].tolist() == [len(kept)]
        assert np.array_equal(results["selected"], padded[: len(kept)])
        mine = {"padded": np.zeros((4, 3), np.int64), "count": np.zeros(1, np.int64)}
        session.run({"boxes": boxes, "scores": scores}, mine)
        assert np.array_equal(mine["padded"], padded) and mine["count"].tolist() == [len(kept)]


def test_arrays_for_shapes_that_only_the_run_knows_are_refused(device) -> None:
    session = vellum.Session(host_models.picture(), device)
    with pytest.raises(vellum.Error, match="output 'values'") as raised:
        session.run({"x": numbers(1)}, {"values": np.zeros((3, 5), np.float32)})
    assert raised.value.code == ErrorCode.INVALID_ARGUMENT
