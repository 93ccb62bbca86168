#!/usr/bin/env python3
"""Compares current exports of torchvision's and timm's networks with torch, and writes the table of
docs/benchmarks/architectures.md.

architecture_table.py BUILD_FOLDER --out FOLDER [--exporter dynamo|torchscript] [NAME...]

Run it with a Python that has torch, torchvision, timm and onnxscript. FOLDER keeps each exported network and results.json, so
that a run goes on where another one stopped: what is exported is exported once, and results of networks not named stay. The
exit status is 1 if a network of the run failed. --write replaces the table of the page by results.json.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy
from PIL import Image

import tables

sys.path.insert(0, str(tables.ROOT / "tests/oracles"))
from architectures import ARCHITECTURES, TABLE  # noqa: E402
from compare_backbone import LARGEST_ERROR, distance, mask_overlap, same_best_five  # noqa: E402
from export_architecture import export  # noqa: E402

WAIT_LIMIT = "900"  # seconds for an inference: a driver that runs on the CPU takes its time for volumes


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"


def try_export(architecture, exporter, folder, photo):
    """An empty string, or why torch exports nothing."""
    if (folder / "manifest.json").exists():
        return ""
    try:
        export(architecture, exporter, folder, photo)
    except Exception as error:  # whatever a network's code or the exporter raises
        return type(error).__name__
    return ""


def same_decision(kind, got, want):
    if kind == "flow":  # which way each pixel went, to a tenth of a pixel
        return bool((abs(got - want) < 0.1).all())
    if kind == "segmentation":
        return mask_overlap(got, want) > 0.99
    return bool((got.argmax(1) == want.argmax(1)).all()) and same_best_five(got, want)


def operators(tool, model):
    """The number of dispatches, and the types of the operators that the host computes, each with its number."""
    tasks = tables.run_json(tool, "inspect", model, "--stage", "program", "--storage", "buffer", "--json")["tasks"]
    dispatches, host = 0, {}
    for task in tasks:
        dispatches += "shader" in task
        for node in task.get("host", []):
            host[node["op"]] = host.get(node["op"], 0) + 1
    return dispatches, host


def check(tool, architecture, folder):
    """What one network gives: its error, decision, dispatches and operators of the host, or why it does not run."""
    manifest = json.loads((folder / "manifest.json").read_text())
    names = manifest["inputs"]
    inputs = [word for name in names for word in ("-i", f"{name}={folder / name}.npy")]
    with tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run([tool, "run", folder / "model.onnx", *inputs, "-o", scratch, "--wait-limit", WAIT_LIMIT],
                              capture_output=True, text=True)
        if done.returncode:
            return {"refused": last_line(done.stderr)}
        got = numpy.load(pathlib.Path(scratch) / "output.npy").astype(numpy.float64)
    want = numpy.load(folder / "output.npy")
    if got.shape != want.shape or not numpy.isfinite(got).all():
        return {"wrong": f"shape {got.shape} for {want.shape}, or not finite"}
    dispatches, host = operators(tool, folder / "model.onnx")
    return {"error": distance(got, want), "rounding": manifest["rounding"],
            "same": same_decision(architecture.kind, got, want), "dispatches": dispatches, "host": host,
            "shape": list(numpy.load(folder / f"{names[0]}.npy").shape)}


def is_right(result):
    """Seeded weights magnify rounding in some networks: torch in fp32 is then about as far from torch in double."""
    return result.get("same", False) and result["error"] <= max(LARGEST_ERROR, 2 * result["rounding"])


def brief(result):
    """Error and dispatches, or why there are none."""
    return f"{result['error']:.1e}, {result['dispatches']}" if "error" in result else ": ".join(next(iter(result.items())))


def cells(name, exporters):
    """One row: the figures of dynamo's file, then what torchscript's gives."""
    other = brief(exporters["torchscript"]) if "torchscript" in exporters else "–"
    result = exporters.get("dynamo", {"–": "not run"})
    if "error" not in result:
        return [name, "–", "–", "–", "–", brief(result), other]
    error = f"{result['error']:.1e}"
    if result["error"] > LARGEST_ERROR:
        error += f" (torch {result['rounding']:.1e})"
    host = ", ".join(f"{count} {op}" for op, count in sorted(result["host"].items())) or "none"
    return [name, "x".join(map(str, result["shape"])), error, "same" if result["same"] else "differs",
            str(result["dispatches"]), host, other]


def main():
    parser = argparse.ArgumentParser(description="Compares current exports of networks with torch.")
    parser.add_argument("build", type=pathlib.Path, help="build folder")
    parser.add_argument("names", nargs="*", metavar="NAME", help="networks; all of them if none is named")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder of exported networks and results.json")
    parser.add_argument("--exporter", choices=["dynamo", "torchscript"], default="dynamo")
    parser.add_argument("--write", action="store_true", help="replace the table of the page")
    arguments = parser.parse_intermixed_args()
    unknown = set(arguments.names) - set(ARCHITECTURES)
    if unknown:
        parser.error(f"unknown network: {', '.join(sorted(unknown))}")
    tool = arguments.build / "tools/vellum/vellum"
    photo = Image.open(tables.cache_folder() / "photos/astronaut.png").convert("RGB")
    record = arguments.out / "results.json"
    results = json.loads(record.read_text()) if record.exists() else {}
    failed = []
    for name in arguments.names or ARCHITECTURES:
        folder = arguments.out / arguments.exporter / name
        why = try_export(ARCHITECTURES[name], arguments.exporter, folder, photo)
        result = {"not exported": why} if why else check(tool, ARCHITECTURES[name], folder)
        print(f"{name}: {json.dumps(result)}", flush=True)
        results.setdefault(name, {})[arguments.exporter] = result
        record.write_text(json.dumps(results, indent=1) + "\n")
        if not is_right(result):
            failed.append(name)
    if arguments.write:
        titles = ["network", "input", "error", "decision", "dispatches", "on the host", "torchscript"]
        rows = [cells(network.name, results[network.name]) for network in TABLE if network.name in results]
        tables.write_between_marks("architectures.md", "architectures", tables.table(titles, rows))
    if failed:
        sys.exit(f"not as torch computes it: {', '.join(failed)}")


if __name__ == "__main__":
    main()
