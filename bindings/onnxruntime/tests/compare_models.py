"""Compares the provider with the CPU provider and with sessions of Vellum itself, as rows of a Markdown table.

    PYTHONPATH=BUILD/bindings/onnxruntime:BUILD/bindings/python python compare_models.py [--runs N] MODEL[,INPUT=1x3x48x320]...

Columns: nodes claimed and parts; the largest difference to the CPU provider, over the largest value; milliseconds to make the
session with the provider; the least milliseconds of a run with the provider, with a session of Vellum, and with the CPU
provider. The runs of the three alternate; threads of the runtime do not spin, which would slow down the next run.
"""

import argparse
import os
import pathlib
import re
import tempfile
import time

import numpy as np
import onnxruntime
import onnxruntime_vellum


def timed(work):
    begin = time.perf_counter()
    result = work()
    return result, 1e3 * (time.perf_counter() - begin)


def inputs_of(session, shapes):
    rng = np.random.default_rng(1)
    inputs = {}
    for value in session.get_inputs():
        shape = shapes.get(value.name) or [d if isinstance(d, int) and d > 0 else 1 for d in value.shape]
        inputs[value.name] = rng.random(shape, np.float32)
    return inputs


def native_session(model, shapes):
    try:
        import vellum
    except ImportError:
        return None
    return vellum.Session(model, input_shapes=shapes)


def row(argument, runs, report):
    model, *given = argument.split(",")
    shapes = {text.split("=")[0]: [int(d) for d in text.split("=")[1].split("x")] for text in given}
    provider = [(onnxruntime_vellum.NAME, {"claim_report": report})]
    settings = onnxruntime.SessionOptions()
    settings.add_session_config_entry("session.intra_op.allow_spinning", "0")
    make = lambda providers: onnxruntime.InferenceSession(model, settings, providers=providers, enable_fallback=0)
    session, creation = timed(lambda: make(provider))
    host = make(["CPUExecutionProvider"])
    inputs = inputs_of(host, shapes)
    native = native_session(model, {name: value.shape for name, value in inputs.items()})
    results, expected = session.run(None, inputs), host.run(None, inputs)
    error = max(np.abs(r.astype("f8") - e).max() / max(np.abs(e).max(), 1e-9) for r, e in zip(results, expected) if e.size)
    ways = [lambda: session.run(None, inputs), lambda: host.run(None, inputs)]
    if native:
        ways.insert(1, lambda: native.run(inputs))
    times = np.min([[timed(way)[1] for way in ways] for _ in range(runs + 1)][1:], axis=0)
    with open(report) as file:
        claimed, nodes, parts = re.match(r"Vellum claims (\d+) of (\d+) nodes in (\d+)", file.read()).groups()
    path = pathlib.Path(model)
    columns = [path.parent.name if path.stem == "model" else path.stem, f"{claimed} of {nodes}", parts, f"{error:.1e}", f"{creation:.0f}",
               f"{times[0]:.2f}", f"{times[1]:.2f}" if native else "", f"{times[-1]:.2f}"]
    return "| " + " | ".join(columns) + " |"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="+")
    parser.add_argument("--runs", type=int, default=15)
    arguments = parser.parse_args()
    onnxruntime.set_default_logger_severity(4)
    onnxruntime_vellum.register()
    print("| model | nodes claimed | parts | error | ms to make | ms provider | ms Vellum | ms CPU provider |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for model in arguments.models:
            print(row(model, arguments.runs, os.path.join(folder, "claims.txt")), flush=True)


if __name__ == "__main__":
    main()
