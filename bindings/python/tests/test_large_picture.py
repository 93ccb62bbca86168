"""Pictures larger than memory: arrays, files and functions of regions."""

from __future__ import annotations

import numpy as np
import pytest
import vellum
from conftest import CtrlC
from docs_programs import means_of_any_picture
from vellum import ErrorCode

POOL = means_of_any_picture()
WHOLE = {"x": (1, 3, 28, 28)}


@pytest.fixture(scope="module")
def photo() -> np.ndarray:
    return np.random.default_rng(3).random((1, 3, 28, 28), np.float32)


@pytest.fixture(scope="module")
def wanted(device, photo) -> np.ndarray:
    return vellum.Session(POOL, device).run({"x": photo})["y"]


@pytest.fixture(scope="module")
def tiled(device) -> vellum.LargePicture:
    return vellum.LargePicture(POOL, device, input_shapes=WHOLE, tile=(12, 9))


def test_tiles_have_the_bits_of_the_whole(device, tiled, photo, wanted) -> None:
    whole = vellum.LargePicture(POOL, device, input_shapes=WHOLE, memory_budget=64 << 20)
    assert whole.tiles == vellum.PictureTiles(28, 28, 1, 1) and tiled.tiles.count > 4
    assert tiled.tiles.height <= 12 and tiled.tiles.width <= 9
    for picture in (whole, tiled):
        assert [info.shape for info in picture.inputs + picture.outputs] == [photo.shape, wanted.shape]
        assert picture.run({"x": photo})["y"].tobytes() == wanted.tobytes()
    assert 0 < whole.peak_bytes <= 64 << 20 and tiled.peak_bytes == 0


def test_files_are_read_and_written_in_place(tiled, photo, wanted, tmp_path) -> None:
    np.save(tmp_path / "x.npy", photo)
    file = np.lib.format.open_memmap(tmp_path / "y.npy", "w+", np.float32, wanted.shape)
    outputs = tiled.run({"x": np.load(tmp_path / "x.npy", mmap_mode="r")}, {"y": file})
    assert outputs["y"] is file
    file.flush()
    assert np.load(tmp_path / "y.npy").tobytes() == wanted.tobytes()


def test_functions_have_regions(tiled, photo, wanted) -> None:
    result = np.full_like(wanted, np.nan)
    steps: list[tuple[str, int, int]] = []

    def read(region: vellum.PictureRegion) -> np.ndarray:
        assert region.rows_axis == 2
        return photo[region.slices]

    def write(region: vellum.PictureRegion, values: np.ndarray) -> None:
        assert not values.flags.writeable and np.isnan(result[region.slices]).all()
        result[region.slices] = values

    assert tiled.run({"x": read}, {"y": write}, progress=lambda *step: steps.append(step)) == {}
    assert result.tobytes() == wanted.tobytes()
    assert steps == [("tiles", done, tiled.tiles.count) for done in range(tiled.tiles.count + 1)]


def test_what_a_function_raises_ends_the_run(tiled, photo, wanted) -> None:
    class Enough(Exception):
        pass

    def stop(*_: object) -> None:
        raise Enough

    for arguments in (({"x": stop},), ({"x": photo}, {"y": stop})):
        with pytest.raises(Enough):
            tiled.run(*arguments)
    with pytest.raises(Enough):
        tiled.run({"x": photo}, progress=stop)
    assert tiled.run({"x": photo})["y"].tobytes() == wanted.tobytes()


def test_ctrl_c_ends_the_run(device) -> None:
    side = 2000
    picture = vellum.LargePicture(POOL, device, input_shapes={"x": (1, 3, side, side)}, tile=32)
    row = np.zeros((1, 3, side, 1), np.float32)
    with pytest.raises(KeyboardInterrupt):
        picture.run({"x": np.broadcast_to(row, (1, 3, side, side))}, {"y": lambda *_: None}, progress=CtrlC())


def test_what_does_not_fit_is_refused(device, tiled, photo, wanted, face) -> None:
    with pytest.raises(vellum.Error, match="no input 'z'") as raised:
        tiled.run({"x": photo, "z": photo})
    assert raised.value.code == ErrorCode.NOT_FOUND
    for arguments, message in (
        (({},), "the input 'x' was not given"),
        (({"x": photo}, {"z": wanted}), "'y' was not given"),
        (({"x": photo[..., 1:]},), r"'x' is float32 \[1, 3, 28, 28\], but the array is float32 \[1, 3, 28, 27\]"),
        (({"x": photo.astype(np.float64)},), "float64"),
        (({"x": lambda region: photo},), "the array is"),
        (({"x": photo}, {"y": "y.npy"}), "an array to write to"),
    ):
        with pytest.raises(vellum.Error, match=message) as raised:
            tiled.run(*arguments)
        assert raised.value.code == ErrorCode.INVALID_ARGUMENT
    with pytest.raises(vellum.Error) as raised:
        vellum.LargePicture(face, device)  # looks at the whole picture
    assert raised.value.code == ErrorCode.UNSUPPORTED
    with pytest.raises(vellum.Error, match="tile"):
        vellum.LargePicture(POOL, device, input_shapes=WHOLE, tile=-1)
    with pytest.raises(vellum.Error, match="input_shapes"):
        vellum.LargePicture(POOL, device)
    with vellum.LargePicture(POOL, device, input_shapes=WHOLE) as picture:
        pass
    with pytest.raises(vellum.Error, match="the LargePicture is closed"):
        picture.run({"x": photo})
