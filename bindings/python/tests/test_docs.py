"""The programs of docs/python.md run. test_wheel.sh runs the one that needs a recent torch."""

from __future__ import annotations

import numpy as np
from docs_programs import run_programs


def test_the_programs_of_the_page_run() -> None:
    variables = run_programs(with_torch=False)
    assert len(variables["scores"]) == 3 and not np.array_equal(*variables["scores"][:2])
    assert variables["outputs"]["PartitionedCall:0"].tolist() == [14, 26]
    assert variables["boxes"].shape == (1, 512, 16)
    assert variables["picture"].shape == (480, 640, 4) and variables["picture"].dtype == np.uint8
    assert variables["clean"].shape == (1, 3, 302, 402) and variables["clean"].all()
    assert variables["profile"].html.startswith("<!doctype html>")
