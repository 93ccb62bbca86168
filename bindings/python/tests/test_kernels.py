"""The check of a device's kernels."""

from __future__ import annotations

import pytest
import vellum
from vellum import ErrorCode


def test_the_kernels_of_this_device_are_right(device) -> None:
    steps = []
    checks = vellum.check_kernels(device, only="Conv 1x1", progress=lambda *step: steps.append(step))
    assert checks and all(check.passed and check.difference <= check.bound and not check.failure for check in checks)
    assert {check.precision for check in checks} == {"fp32", "fp16"}
    assert {"image2d", "image3d", "buffer"} == {check.storage for check in checks}
    assert {check.arithmetic for check in checks} <= {"fp32", "fp16"}
    assert steps[0][:2] == ("kernels", 0)


def test_what_ends_the_check(device) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        vellum.check_kernels(device, only="Resize", progress=stop)
    with pytest.raises(vellum.Error, match="Frobnicate") as raised:
        vellum.check_kernels(device, only="Frobnicate")
    assert raised.value.code == ErrorCode.NOT_FOUND
