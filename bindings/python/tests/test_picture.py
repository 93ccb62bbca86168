"""Pictures of outputs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import vellum
from conftest import DATA
from vellum import ErrorCode, FrameInput, FrameTransform, PictureOutput
from vellum._library import library

ROOT = Path(__file__).parents[3]
PERSON = DATA / "models" / "selfie_segmentation.tflite"
WIDTH, HEIGHT = 90, 64
INPUT, MASK = "input_1", "activation_10"


@pytest.fixture(scope="module")
def frame() -> np.ndarray:
    """A blob of the colours of skin on a ramp, so that the mask has all values."""
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    near = np.hypot(x - WIDTH / 2, y - HEIGHT / 2) < 0.3 * HEIGHT
    return np.where(near[..., None], [210, 160, 130], np.stack([60 + 0 * x, 80 + x, 120 + y], -1)).astype(np.uint8)


@pytest.fixture(scope="module")
def framed() -> vellum.Model:
    part = FrameTransform.letterbox((WIDTH, HEIGHT), (256, 256))
    return vellum.Model(PERSON).with_frames(INPUT, FrameInput("rgb8", WIDTH, HEIGHT, scale=1 / 255, transform=part))


def test_pictures_have_the_bytes_of_the_program_in_c(framed, device, frame, tmp_path: Path) -> None:
    program, made = tmp_path / "pictures", tmp_path / "made"
    loaded = Path(library._name)
    subprocess.run(
        [os.environ.get("CC", "cc"), "-std=c99", f"-I{ROOT / 'runtime' / 'include'}", ROOT / "tests" / "bindings" / "pictures.c",
         loaded, f"-Wl,-rpath,{loaded.resolve().parent}", "-o", program],
        check=True,
    )  # fmt: skip
    (tmp_path / "frame").write_bytes(frame.tobytes())
    environment = {**os.environ, "LD_LIBRARY_PATH": str(loaded.parent)}
    subprocess.run([program, PERSON, tmp_path / "frame", str(WIDTH), str(HEIGHT), made], check=True, env=environment)
    expected = np.frombuffer(made.read_bytes(), np.uint8)

    wall = PictureOutput(palette=[(0, 177, 64, 255), (0, 177, 64, 0)], over=INPUT)
    colors = [(0, 0, 0, 0), (255, 128, 0, 200), (1, 2, 3, 255)]
    ramp = PictureOutput(low=0.1, high=0.8, palette=np.array(colors), width=100, height=61, channels="last")
    steps = PictureOutput(
        "steps", palette=[(9, 8, 7, 6), (250, 251, 252, 253), (100, 0, 100, 255)], filter="nearest", name="picture"
    )
    pictures = []
    for picture, name in ((wall, MASK), (ramp, MASK), (steps, "picture")):
        session = vellum.Session(framed.with_picture(MASK, picture), device)
        pictures.append(session.run({INPUT: frame}, [name])[0])
    assert [picture.shape for picture in pictures] == [(HEIGHT, WIDTH, 4), (61, 100, 4), (256, 256, 4)]
    assert all(picture.dtype == np.uint8 and np.ptp(picture[..., 3 if i else 0]) for i, picture in enumerate(pictures))
    assert np.array_equal(np.concatenate([picture.reshape(-1) for picture in pictures]), expected)


def test_colours_are_those_of_the_definition(framed, device, frame) -> None:
    palette = np.array([(0, 0, 0), (10, 200, 30), (255, 255, 255)])
    pictured = framed.with_picture(MASK, PictureOutput("steps", palette=palette, filter="nearest", name="picture"))
    assert [(info.name, info.shape) for info in pictured.outputs] == [(MASK, (1, 256, 256, 1)), ("picture", (256, 256, 4))]
    outputs = vellum.Session(pictured, device).run({INPUT: frame})
    step = np.clip(outputs[MASK][0, ..., 0], 0, 1) * 3
    sure = (np.abs(step - 1) > 1e-4) & (np.abs(step - 2) > 1e-4)  # elsewhere rounding may choose the other colour
    expected = palette[np.minimum(step.astype(int), 2)]
    assert sure.mean() > 0.9 and len(np.unique(np.minimum(step.astype(int), 2)[sure])) == 3
    assert np.array_equal(outputs["picture"][sure][:, :3], expected[sure])
    assert (outputs["picture"][..., 3] == 255).all()  # three numbers are an opaque colour


@pytest.mark.parametrize(
    ("picture", "message"),
    [
        (PictureOutput("heat"), "colors has no value 'heat'"),  # type: ignore[arg-type]
        (PictureOutput("classes"), "palette"),
        (PictureOutput("rgb"), "3 or 4 channels"),
        (PictureOutput(palette=[(1, 2)]), r"integers \[n, 3\]"),
        (PictureOutput(palette=[(1.0, 2.0, 3.0)]), r"integers \[n, 3\]"),
        (PictureOutput(palette=[(1, 2, 256)]), "in 0..255"),
        (PictureOutput(palette=np.zeros((4097, 4), int)), "4097"),
        (PictureOutput(low=1), "low"),
        (PictureOutput(width=-1), "width cannot be -1"),
        (PictureOutput(over="sea"), "'sea'"),
    ],
)
def test_pictures_that_cannot_be_are_errors(framed, picture: PictureOutput, message: str) -> None:
    with pytest.raises(vellum.Error, match=message) as raised:
        framed.with_picture(MASK, picture)
    assert raised.value.code == ErrorCode.INVALID_ARGUMENT


def test_a_bundle_has_the_shaders_of_pictures(device, frame, tmp_path: Path) -> None:
    rgb = {INPUT: FrameInput("rgb8", 64, 64)}
    plain = vellum.write_bundle(PERSON, tmp_path / "plain.vellum", device=device, frames=rgb)
    pictures = {MASK: [PictureOutput("steps"), PictureOutput(over=INPUT)]}
    with_pictures = vellum.write_bundle(PERSON, tmp_path / "pictured.vellum", device=device, frames=rgb, pictures=pictures)
    assert with_pictures.shaders >= plain.shaders + 3 and with_pictures.weights >= plain.weights
    with pytest.raises(vellum.Error, match="needs a frame"):
        vellum.write_bundle(PERSON, tmp_path / "none.vellum", pictures={MASK: PictureOutput(over=INPUT)})


def test_outputs_that_are_not_there_are_errors(framed) -> None:
    with pytest.raises(vellum.Error) as raised:
        framed.with_picture("mist", PictureOutput())
    assert raised.value.code == ErrorCode.NOT_FOUND
