"""Compares the delegate with sessions of Vellum itself and with LiteRT's own kernels, as rows of a Markdown table.

    PYTHONPATH=BUILD/bindings/python python compare_models.py [--runs N] BUILD/bindings/tflite/libvellum_tflite_delegate.so MODEL...

Columns: nodes claimed and parts; whether the results are those of Vellum's session, bit for bit; milliseconds to make the
interpreter; the least milliseconds of a run with the delegate, with the session, and with LiteRT's kernels on one thread (none
for models whose custom operators LiteRT lacks). The runs alternate. Times are CPU time of the process with all its threads, which
is all of the time on lavapipe, and little of it on a GPU.
"""

import argparse
import os
import pathlib
import re
import tempfile
import time

import numpy as np
import vellum
from ai_edge_litert.interpreter import Interpreter, load_delegate


def timed(work):
    begin = time.process_time()
    result = work()
    return result, 1e3 * (time.process_time() - begin)


def random_value(details, rng):
    if np.issubdtype(details["dtype"], np.floating):
        return rng.random(details["shape"], np.float32).astype(details["dtype"])
    return rng.integers(0, 100, details["shape"]).astype(details["dtype"])


def delegated(library, model, **options):
    """Returns an interpreter with the delegate, and the report of what was claimed."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "claims.txt")
        delegate = load_delegate(library, {"claim_report": report, **options})
        interpreter = Interpreter(str(model), experimental_delegates=[delegate])
        interpreter.allocate_tensors()
        return interpreter, pathlib.Path(report).read_text()


def run(interpreter, inputs):
    for details in interpreter.get_input_details():
        interpreter.set_tensor(details["index"], inputs[details["name"]])
    interpreter.invoke()
    return {details["name"]: interpreter.get_tensor(details["index"]) for details in interpreter.get_output_details()}


def inputs_of(interpreter, seed=1):
    rng = np.random.default_rng(seed)
    return {details["name"]: random_value(details, rng) for details in interpreter.get_input_details()}


def host_interpreter(model):
    try:
        host = Interpreter(str(model), num_threads=1)
        host.allocate_tensors()
        return host
    except RuntimeError:  # a custom operator
        return None


def row(library, model, runs):
    (interpreter, report), creation = timed(lambda: delegated(library, model))
    native, host = vellum.Session(str(model)), host_interpreter(model)
    inputs = inputs_of(interpreter)
    results, expected = run(interpreter, inputs), native.run(inputs)
    same = all(np.array_equal(results[name], expected[name], equal_nan=True) for name in results)
    ways = [lambda: run(interpreter, inputs), lambda: native.run(inputs)] + ([lambda: run(host, inputs)] if host else [])
    times = np.min([[timed(way)[1] for way in ways] for _ in range(runs + 1)][1:], axis=0)
    claimed, nodes, parts = re.match(r"Vellum claims (\d+) of (\d+) nodes in (\d+)", report).groups()
    columns = [pathlib.Path(model).stem, f"{claimed} of {nodes}", parts, "yes" if same else "no", f"{creation:.0f}",
               f"{times[0]:.2f}", f"{times[1]:.2f}", f"{times[2]:.2f}" if host else ""]
    return "| " + " | ".join(columns) + " |"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--runs", type=int, default=15)
    arguments = parser.parse_args()
    print("| model | nodes claimed | parts | equal bits | ms to make | ms delegate | ms Vellum | ms LiteRT |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for model in arguments.models:
        print(row(arguments.library, model, arguments.runs), flush=True)


if __name__ == "__main__":
    main()
