"""Models whose outputs the host computes behind operators with data-dependent shapes.

host_models.py FILE     writes picture(), as tests/data/onnx/picture_of_places.onnx has it
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[3] / "tests" / "hostile"))
from onnx_writer import INT64, floats, graph, ints, model, node, tensor, value_info


def picture(batch: int | str = 2) -> bytes:
    """x [batch,4,6,5]: where a row has a number above 0.5, it is negated.

    Outputs: "picture" like x; "values" [n,5], the negated rows; "early", Relu(x), which the device computes; "size" [2], the
    shape of "values".
    """
    nodes = [
        node("Relu", ["x"], ["early"]),
        node("ReduceMax", ["x"], ["most"], axes=[3], keepdims=0),
        node("Greater", ["most", "least"], ["above"]),
        node("NonZero", ["above"], ["places"]),
        node("Transpose", ["places"], ["rows"]),
        node("GatherND", ["x", "rows"], ["found"]),
        node("Neg", ["found"], ["values"]),
        node("ScatterND", ["x", "rows", "values"], ["picture"]),
        node("Shape", ["values"], ["size"]),
    ]
    shape = [batch, 4, 6, 5]
    outputs = [value_info(name, None) for name in ("picture", "values", "early")] + [value_info("size", None, INT64)]
    return model(graph(nodes, [value_info("x", shape)], outputs, [floats("least", [], 0.5)]))


def detector(most: int = 4) -> bytes:
    """boxes [1,6,4] and scores [1,1,6] to "padded" [4,3], the indices of the boxes that are kept, then -1; "count" [1]; and
    "selected" [n,3]."""
    nodes = [
        node("NonMaxSuppression", ["boxes", "scores", "most", "overlap", "least"], ["selected"]),
        node("Shape", ["selected"], ["size"]),
        node("Gather", ["size", "first"], ["count"]),
        node("Squeeze", ["count"], ["end"]),
        node("Range", ["zero", "end", "one"], ["numbers"]),
        node("Unsqueeze", ["numbers", "last"], ["rows"]),
        node("ScatterND", ["table", "rows", "selected"], ["padded"]),
    ]
    constants = [
        ints("most", [most]),
        floats("overlap", [1], 0.5),
        floats("least", [1], 0.3),
        ints("first", [0]),
        ints("last", [1]),
        tensor("zero", [], [0]),
        tensor("one", [], [1]),
        tensor("table", [4, 3], [-1] * 12),
    ]
    inputs = [value_info("boxes", [1, 6, 4]), value_info("scores", [1, 1, 6])]
    # No shape rule says what Range makes of a number that only a run knows: the file declares the shape.
    outputs = [value_info("padded", [4, 3], INT64)] + [value_info(name, None, INT64) for name in ("count", "selected")]
    return model(graph(nodes, inputs, outputs, constants))


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(picture())
