"""Camera frames and pictures as inputs."""

from __future__ import annotations

import numpy as np
import pytest
import vellum
from conftest import same
from vellum import ErrorCode, FrameInput, FrameTransform

PICTURE = np.random.default_rng(5).integers(0, 256, (128, 128, 3), np.uint8)


def test_transforms_map_points_both_ways() -> None:
    box = FrameTransform.letterbox((640, 480), (128, 128))
    assert box.network == (128, 128) and box.matrix[:2] == (5, 0)
    assert np.array_equal(box.to_frame([0, 16]), [0, 0])
    points = np.random.default_rng(1).random((4, 5, 2)) * 100
    assert np.allclose(box.to_network(box.to_frame(points)), points)
    assert np.allclose(box.flipped().to_frame([128, 16]), [0, 0])
    assert np.allclose(box.flipped(horizontally=False).to_frame([0, 112]), [0, 0])
    turned = FrameTransform.rotated((100, 50), (40, 20), np.pi / 2, (4, 2))
    assert np.allclose(turned.to_frame([0, 0]), [110, 30])
    corners = FrameTransform.region((10, 20), (30, 20), (10, 60), (2, 4))
    assert corners.to_frame([[0, 0], [2, 0], [0, 4]]).tolist() == [[10, 20], [30, 20], [10, 60]]
    assert FrameTransform.center_crop((640, 480), (1, 1)).to_frame([0, 0]).tolist() == [80, 0]
    half = FrameTransform((0.5, 0, 1, 0, 0.5, 2), (10, 10))
    assert half.to_frame([2, 4]).tolist() == [2, 4] and np.asarray(half).tolist() == [[0.5, 0, 1], [0, 0.5, 2]]
    for make in (lambda: FrameTransform.stretch((0, 1), (1, 1)), lambda: FrameTransform((1, 2), (1, 1))):
        with pytest.raises(vellum.Error) as raised:
            make()
        assert raised.value.code == ErrorCode.INVALID_ARGUMENT


def test_a_picture_is_an_input(face, device, session) -> None:
    framed = face.with_frames("input:0", FrameInput("rgb8", 128, 128, mean=127.5, scale=1 / 127.5))
    assert [(info.name, info.shape) for info in framed.inputs] == [("input:0", (128 * 128 * 3,)), ("input:0.transform", (2, 3))]
    whole = FrameTransform.stretch((128, 128), (128, 128))
    runner = vellum.Session(framed, device)
    result = runner.run({"input:0": PICTURE, "input:0.transform": whole})
    values = ((PICTURE - np.float32(127.5)) / np.float32(127.5))[None]
    for name, array in session.run({"input:0": values}).items():
        assert np.allclose(result[name], array, atol=1e-3, rtol=1e-3)
    # With the transform fixed, and with an alpha that the network does not see.
    rgba = np.dstack([PICTURE, np.full((128, 128), 7, np.uint8)])
    fixed = face.with_frames("input:0", FrameInput("rgba8", 128, 128, mean=127.5, scale=1 / 127.5, transform=whole))
    assert same(vellum.Session(fixed, device).run({"input:0": rgba}), result)


def test_planes_of_a_frame_may_be_apart(face, device) -> None:
    framed = face.with_frames("input:0", FrameInput("nv12", 64, 32, fill=None, mean=[1, 2, 3], scale=[0.5, 0.25, 0.125]))
    luma = np.random.default_rng(2).integers(0, 256, (32, 64), np.uint8)
    chroma = np.random.default_rng(3).integers(0, 256, (16, 32, 2), np.uint8)
    whole = np.concatenate([luma, chroma.reshape(16, 64)])  # as OpenCV has it
    session = vellum.Session(framed, device)
    transform = FrameTransform.letterbox((64, 32), (128, 128))
    together = session.run({"input:0": whole, "input:0.transform": transform})
    assert same(session.run({"input:0": (luma, chroma), "input:0.transform": transform}), together)
    assert not same(session.run({"input:0": whole[::-1], "input:0.transform": transform}), together)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (PICTURE[:64], "frames of 128x128 pixels, but the array is 128x64"),
        (PICTURE.astype(np.float32), "takes frames of uint8"),
        (PICTURE[..., 0], "takes frames of 49152 bytes"),
    ],
)
def test_pictures_that_do_not_fit_are_errors(face, device, value, message) -> None:
    framed = face.with_frames("input:0", FrameInput("rgb8", 128, 128))
    session = vellum.Session(framed, device)
    with pytest.raises(vellum.Error, match=message):
        session.run({"input:0": value, "input:0.transform": FrameTransform.stretch((128, 128), (128, 128))})


def test_frames_that_do_not_exist_are_errors(face) -> None:
    for frame, code in (
        (FrameInput("rgb8", 0, 128), ErrorCode.INVALID_ARGUMENT),
        (FrameInput("yuv9", 128, 128), ErrorCode.INVALID_ARGUMENT),
        (FrameInput("rgb8", -1, 128), ErrorCode.INVALID_ARGUMENT),
        (FrameInput("rgb8", 128, 128, mean=[1, 2, 3, 4, 5]), ErrorCode.INVALID_ARGUMENT),
    ):
        with pytest.raises(vellum.Error) as raised:
            face.with_frames("input:0", frame)
        assert raised.value.code == code
    with pytest.raises(vellum.Error) as raised:
        face.with_frames("none", FrameInput("rgb8", 128, 128))
    assert raised.value.code == ErrorCode.NOT_FOUND
    assert FrameInput("nv12", 5, 3).bytes == 5 * 3 + 6 * 2
