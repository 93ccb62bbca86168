#!/usr/bin/python3
"""What passes over the graph and views save in dispatches: lowers models without them, with the passes, and with both, and
writes the table between the marks of docs/benchmarks/passes.md anew. Nothing runs; the first Vulkan device chooses the storage.
    tests/bench/dispatches.py BUILD_FOLDER [NETWORK or MODEL...]
"""
import pathlib
import re
import subprocess
import sys

from tables import cache_folder, exported_network, run_json, table, write_between_marks

NETWORKS = ["squeezenet1_1", "mobilenet_v2", "mobilenet_v3_large", "shufflenet_v2_x1_0", "mnasnet1_0", "efficientnet_b0",
            "resnet18", "resnet50", "googlenet", "densenet121", "convnext_tiny", "vit_b_16", "swin_t"]
MODELS = ["face_detection_front_128x128_barracuda.onnx", "mlsd_320x320_tiny.onnx", "face_detection_short_range.tflite"]
TITLES = ["network", "operators in the file", "dispatches without passes", "with passes", "and views", "saved"]


def optional_passes(tool):
    """All but the one that other operators need to run at all."""
    text = subprocess.run([tool, "inspect", "--help"], check=True, capture_output=True, text=True).stdout
    return set(re.search(r"--disable-pass TEXT:\{([a-z_,]+)\}", text)[1].split(",")) - {"decompose"}


def dispatches(tool, model, *options):
    return len(run_json(tool, "inspect", model, "--stage", "program", "--device", "0", *options, "--json")["tasks"])


def path_of(name):
    path = pathlib.Path(name)
    if path.suffix:
        return path if path.exists() else cache_folder() / "models" / path
    return exported_network(name) / "model.onnx"


def cells(tool, name, disabled):
    model = path_of(name)
    operators = len(run_json(tool, "inspect", model, "--json")["nodes"])
    plain = dispatches(tool, model, "--no-views", *disabled)
    fused = dispatches(tool, model, "--no-views")
    as_run = dispatches(tool, model)
    return [pathlib.Path(name).stem, str(operators), str(plain), str(fused), str(as_run), f"{1 - as_run / plain:.0%}"]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    tool = pathlib.Path(sys.argv[1]) / "tools/vellum/vellum"
    disabled = [word for name in sorted(optional_passes(tool)) for word in ("--disable-pass", name)]
    rows = []
    for name in sys.argv[2:] or NETWORKS + MODELS:
        rows.append(cells(tool, name, disabled))
        print(*rows[-1], sep="  ", file=sys.stderr)
    write_between_marks("passes.md", "dispatches", table(TITLES, rows))


main()
