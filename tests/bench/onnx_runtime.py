"""ONNX Runtime beside Vellum: which of its providers run here, and how fast."""
import subprocess
import sys

from tables import ROOT, run_json

TITLES = {"cpu": "ONNX Runtime CPU", "webgpu": "ONNX Runtime WebGPU"}
PROGRAM = ROOT / "tests/bench/time_onnxruntime.mjs"


def usable_providers(model):
    """Its CPU provider, and WebGPU where that finds an adapter; else standard error has the reason."""
    done = subprocess.run(["node", PROGRAM, model, "1", "webgpu"], capture_output=True, text=True)
    if done.returncode == 0:
        return ["cpu", "webgpu"]
    reason = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit status {done.returncode}"
    print(f"{TITLES['webgpu']} is left out: {reason}", file=sys.stderr)
    return ["cpu"]


def least_milliseconds(model, runs, provider):
    return run_json("node", PROGRAM, model, str(runs), provider)["min_ms"]
