"""ONNX's own tests of single operators through the provider, compared with the values that ONNX gives.

    python node_tests.py [PATTERN]

Prints the tests that fail with the provider and pass without it, and one line of totals. Exit status 1 if there are any.
"""

import os
import re
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
import onnxruntime_vellum
from onnx.backend.test.case.node import collect_testcases


def is_equal(result, expected, case):
    if isinstance(expected, (list, tuple)):
        return len(result) == len(expected) and all(is_equal(r, e, case) for r, e in zip(result, expected))
    if expected is None or result is None:
        return result is expected
    expected = np.asarray(expected)
    if result.shape != expected.shape:
        return False
    if expected.dtype.kind in "OUS":
        return result.tolist() == expected.tolist()
    return np.allclose(np.asarray(result, np.float64), np.asarray(expected, np.float64),
                       rtol=max(case.rtol, 1e-3), atol=max(case.atol, 1e-5), equal_nan=True)


class Unequal(Exception):
    pass


def run(case, providers):
    settings = onnxruntime.SessionOptions()
    session = onnxruntime.InferenceSession(case.model.SerializeToString(), settings, providers=providers, enable_fallback=0)
    for inputs, outputs in case.data_sets:
        values = {i.name: v for i, v in zip(session.get_inputs(), inputs)}
        results = session.run(None, values)
        for result, expected in zip(results, outputs):
            if not is_equal(result, expected, case):
                raise Unequal("other values")


def main():
    onnxruntime.set_default_logger_severity(4)
    onnxruntime_vellum.register()
    pattern = re.compile(sys.argv[1] if len(sys.argv) > 1 else "")
    counts = {"claimed": 0, "partly": 0, "left to the runtime": 0, "refused by the runtime": 0, "wrong": 0}
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "claims.txt")
        for case in collect_testcases(None):
            if not case.data_sets or not pattern.search(case.name):
                continue
            try:
                run(case, ["CPUExecutionProvider"])
            except Exception:
                counts["refused by the runtime"] += 1
                continue
            try:
                run(case, [(onnxruntime_vellum.NAME, {"claim_report": report})])
            except Exception as error:
                counts["wrong"] += 1
                print(f"{case.name}: {str(error)[:300]}", flush=True)
                continue
            with open(report) as file:
                claimed, all_nodes = map(int, re.match(r"Vellum claims (\d+) of (\d+)", file.read()).groups())
            counts["left to the runtime" if not claimed else "claimed" if claimed == all_nodes else "partly"] += 1
    print(", ".join(f"{name}: {count}" for name, count in counts.items()))
    return counts["wrong"] > 0


if __name__ == "__main__":
    sys.exit(main())
