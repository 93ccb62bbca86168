"""Compares the provider with the CPU provider and with sessions of Vellum itself, as rows of a Markdown table.

    PYTHONPATH=BUILD/bindings/onnxruntime:BUILD/bindings/python python compare_models.py [--runs N] [--layer FOLDER]
        [--steps compare] [--results FILE] [--write PAGE] MODEL[,INPUT=1x3x48x320][,INPUT=1@16000]...

INPUT=SHAPE gives the shape of an input, and @VALUE the number that fills it (a scalar: `=@16000`); other inputs are random, or
the files INPUT.npy beside a model.onnx. Columns:

- nodes claimed, and parts;
- error: the largest difference to the CPU provider, over the largest value (or 1, if that is larger);
- ms provider, Vellum, CPU: the least of N runs in turns, with the provider, with a session of Vellum and with the CPU provider on
  one thread;
- MiB provider, Vellum: the device memory that a session keeps after a run, counted by tests/bench/peers/memory_layer.cpp
  (--layer: the folder of its manifest);
- ms cold, cold EPContext: to make the session and run it once in a process of its own, without any cache, from the model and from
  its compiled form (left out with --steps compare).

Times are CPU time of the process with all its threads, which is all of the time on lavapipe and little of it on a GPU. --results
keeps what was measured, so that a run does the steps that are missing; --write puts it into the table between the marks of a
page, whose other rows and cells stay.
"""

import argparse
import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnxruntime
import onnxruntime_vellum

TITLES = ["model", "nodes claimed", "parts", "error", "ms provider", "ms Vellum", "ms CPU", "MiB provider", "MiB Vellum",
          "ms cold", "ms cold EPContext"]


class Case:
    """A model, and the inputs that the command line or files beside it give."""

    def __init__(self, argument):
        self.argument = argument
        path, *given = argument.split(",")
        self.path, self.shapes, self.fill = pathlib.Path(path), {}, {}
        for text in given:
            name, value = text.split("=")
            shape, _, number = value.partition("@")
            self.shapes[name] = [int(d) for d in shape.split("x")] if shape else []
            if number:
                self.fill[name] = float(number)
        self.name = self.path.parent.name if self.path.stem == "model" else self.path.stem

    def inputs(self, session):
        rng, values = np.random.default_rng(1), {}
        for value in session.get_inputs():
            dtype = {"float": "f4", "float16": "f2", "double": "f8", "bool": "?"}.get(value.type[7:-1], value.type[7:-1])
            shape = self.shapes.get(value.name, [d if isinstance(d, int) and d > 0 else 1 for d in value.shape])
            file = self.path.parent / f"{value.name}.npy"
            if value.name in self.fill:
                values[value.name] = np.full(shape, self.fill[value.name], dtype)
            elif self.path.stem == "model" and file.exists():
                values[value.name] = np.load(file)
            else:
                is_float = np.dtype(dtype).kind == "f"
                values[value.name] = (rng.random(shape) if is_float else rng.integers(0, 2, shape)).astype(dtype)
        return values


def timed(work):
    begin = time.process_time()
    result = work()
    return result, 1e3 * (time.process_time() - begin)


def make_session(path, provider, **options):
    settings = onnxruntime.SessionOptions()
    settings.add_session_config_entry("session.intra_op.allow_spinning", "0")
    settings.intra_op_num_threads = 1
    for name, value in options.items():
        settings.add_session_config_entry("ep.context_" + name, value)
    return onnxruntime.InferenceSession(str(path), settings, providers=[provider], enable_fallback=0)


def with_provider(**options):
    return onnxruntime_vellum.NAME, {"cache": "", **options}


def native_session(case, inputs):
    import vellum
    shapes = {name: value.shape for name, value in inputs.items()}
    return vellum.Session(str(case.path), vellum.Device(cache_folder=""), input_shapes=shapes)


# Open from the beginning: Vulkan's loader closes it with the last device, and its counts are gone.
LAYER = ctypes.CDLL(os.environ["VELLUM_MEMORY_LAYER"]) if "VELLUM_MEMORY_LAYER" in os.environ else None


def allocated_mib():
    """The device memory of this process, as the layer has counted it."""
    if not LAYER:
        return float("nan")
    LAYER.vellum_allocated_bytes.restype = ctypes.c_uint64
    return LAYER.vellum_allocated_bytes() / 2**20


def step_compare(case, folder, runs):
    report = folder / "claims.txt"
    session = make_session(case.path, with_provider(claim_report=str(report)))
    host = make_session(case.path, "CPUExecutionProvider")
    inputs = case.inputs(host)
    results, expected = session.run(None, inputs), host.run(None, inputs)
    memory = [allocated_mib()]
    difference = lambda r, e: np.abs(r.astype("f8") - e).max() / max(np.abs(e).max(), 1)
    ways = {"provider": lambda: session.run(None, inputs), "cpu": lambda: host.run(None, inputs)}
    try:
        native = native_session(case, inputs)
        native.run(inputs)
        ways["vellum"] = lambda: native.run(inputs)
        memory.append(allocated_mib() - memory[0])
    except Exception:  # a model that Vellum cannot run whole
        pass
    times = np.min([[timed(way)[1] for way in ways.values()] for _ in range(runs)], axis=0)
    claimed, nodes, parts = re.match(r"Vellum claims (\d+) of (\d+) nodes in (\d+)", report.read_text()).groups()
    return {"claimed": int(claimed), "nodes": int(nodes), "parts": int(parts), "report": report.read_text(),
            "error": float(max(difference(r, e) for r, e in zip(results, expected) if e.size)), **dict(zip(ways, times)),
            **{f"{name}_mib": mib for name, mib in zip(("provider", "vellum"), memory) if mib == mib}}


def step_cold(case, folder, runs):
    def work():
        session = make_session(case.path, with_provider())
        return session.run(None, case.inputs(session))

    return {"cold": timed(work)[1]}


def step_compile(case, folder, runs):
    make_session(case.path, with_provider(), enable="1", file_path=str(folder / "compiled.onnx"), embed_mode="0")
    return {}


def step_context(case, folder, runs):
    def work():
        session = make_session(folder / "compiled.onnx", with_provider())
        return session.run(None, case.inputs(session))

    return {"context": timed(work)[1]}


STEPS = {"compare": step_compare, "cold": step_cold, "compile": step_compile, "context": step_context}


def run_steps(case, arguments, results):
    """Each step in a process of its own, so that none finds what another one has prepared. Adds to `results`."""
    results["name"] = case.name
    environment = dict(os.environ)
    if arguments.layer:
        environment |= {"VK_LAYER_PATH": arguments.layer, "VK_INSTANCE_LAYERS": "VK_LAYER_VELLUM_memory",
                        "VELLUM_MEMORY_LAYER": os.path.join(arguments.layer, "libmemory_layer.so")}
    with tempfile.TemporaryDirectory() as folder:
        for step in missing_steps(results, arguments):
            results.setdefault("steps", []).append(step)
            environment["MESA_SHADER_CACHE_DISABLE"] = str(step in ("cold", "context")).lower()
            options = ["--step", step, "--folder", folder, "--runs", str(arguments.runs)]
            command = [sys.executable, "-B", __file__, *options, case.argument]
            done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=1800)
            if done.returncode == 0:
                results.update(json.loads(done.stdout.splitlines()[-1]))
            else:
                lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
                results.setdefault("failures", {})[step] = lines[-1]


def missing_steps(results, arguments):
    return [step for step in arguments.steps.split(",") if step not in results.get("steps", [])]


def row(result):
    number = lambda name, digits: f"{result[name]:.{digits}f}" if result.get(name) is not None else ""
    claimed = f"{result['claimed']} of {result['nodes']}" if "nodes" in result else ""
    if "compare" in result.get("failures", {}):
        claimed = "failed"
    error = f"{result['error']:.1e}" if "error" in result else ""
    return [result["name"], claimed, str(result.get("parts", "")), error, number("provider", 1), number("vellum", 1),
            number("cpu", 1), number("provider_mib", 1), number("vellum_mib", 1), number("cold", 0), number("context", 0)]


def table(rows):
    lines = [TITLES, ["---"] + ["---:"] * (len(TITLES) - 1), *rows]
    return "".join("| " + " | ".join(cells) + " |\n" for cells in lines)


def merged(rows, measured):
    """`rows` with the cells of `measured` that are not empty, by name; rows of new names follow."""
    known = {cells[0]: cells for cells in rows}
    for cells in measured:
        known[cells[0]] = [new or old for new, old in zip(cells, known.get(cells[0], cells))]
    return list(known.values())


def write_between_marks(page, measured):
    begin, end = "<!-- models begin -->\n", "<!-- models end -->\n"
    before, rest = page.read_text().split(begin)
    lines, after = rest.split(end)
    rows = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in lines.splitlines()[2:]]
    page.write_text(before + begin + table(merged(rows, measured)) + end + after)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="*", type=Case)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--layer")
    parser.add_argument("--steps", default=",".join(STEPS))
    parser.add_argument("--results", type=pathlib.Path)
    parser.add_argument("--write", type=pathlib.Path)
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=pathlib.Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.step:
        onnxruntime.set_default_logger_severity(4)
        onnxruntime_vellum.register()
        print(json.dumps(STEPS[arguments.step](arguments.models[0], arguments.folder, arguments.runs)), flush=True)
        return
    known = json.loads(arguments.results.read_text()) if arguments.results and arguments.results.exists() else {}
    for case in arguments.models:
        result = known.setdefault(case.name, {})
        if missing_steps(result, arguments):
            run_steps(case, arguments, result)
            print(" | ".join(row(result)), result.get("failures", ""), flush=True)
            if arguments.results:
                arguments.results.write_text(json.dumps(known, indent=1) + "\n")
    if arguments.write:
        write_between_marks(arguments.write, [row(result) for result in known.values()])


if __name__ == "__main__":
    main()
