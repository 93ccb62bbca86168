#!/usr/bin/python3
"""Compares an engine's outputs with torch's in double: prints the worst error and the decision, exits 1 where they differ.

compare_backbone.py FOLDER OUTPUT.npy fp32|fp16     FOLDER is one that export_backbones.py made
"""
import json
import pathlib
import sys

import numpy

LARGEST_ERROR = 1e-3  # of fp32, times max(1, |reference|)


def distance(got, want):
    return float((numpy.abs(got - want) / numpy.maximum(1, numpy.abs(want))).max())


def same_best_five(got, want):
    """Whether the five best classes are the same; one whose score ties with the fifth's within the error may take its place."""
    for mine, reference in zip(got, want):
        slack = 2 * numpy.abs(mine - reference).max()
        if (reference[numpy.argsort(mine)[-5:]] < numpy.sort(reference)[-5] - slack).any():
            return False
    return True


def mask_overlap(got, want):
    """Mean over the classes that the reference contains of intersection over union."""
    mine, reference = got.argmax(1), want.argmax(1)
    return float(numpy.mean([((mine == c) & (reference == c)).sum() / ((mine == c) | (reference == c)).sum()
                             for c in numpy.unique(reference)]))


def main():
    folder, output, precision = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    kind = json.loads((folder / "manifest.json").read_text())["kind"]
    want = numpy.load(folder / "output.npy").astype(numpy.float64)
    got = numpy.load(output).astype(numpy.float64)
    if got.shape != want.shape or not numpy.isfinite(got).all():
        print(f"shape {got.shape} for {want.shape}, or not finite")
        raise SystemExit(1)
    error = distance(got, want)
    if kind == "segmentation":
        overlap = mask_overlap(got, want)
        agrees, decision = overlap > 0.99, f"IoU {overlap:.4f}"
    elif kind == "detection":  # nothing is decided but by what makes boxes of the outputs
        agrees, decision = precision == "fp32", "–"
    else:
        agrees = bool((got.argmax(1) == want.argmax(1)).all()) and same_best_five(got, want)
        decision = "same" if agrees else "differs"
    if precision == "fp32":
        agrees = agrees and error <= LARGEST_ERROR
    elif not agrees:
        # Seeded weights magnify rounding: torch with half rounding must be about as far away.
        inherent = distance(numpy.load(folder / "output_fp16.npy").astype(numpy.float64), want)
        agrees = error <= 2 * inherent
        decision += f", undetermined: torch with half rounding {inherent:.1e}"
    print(f"{error:.1e} {decision}")
    raise SystemExit(0 if agrees else 1)


if __name__ == "__main__":
    main()
