#!/usr/bin/python3
"""Measures on lavapipe how well memory is predicted, and writes the tables between the marks of docs/benchmarks/estimate.md anew:

    tests/bench/estimate_table.py BUILD_FOLDER [--measurements FOLDER] [--fit]

As after a change of kernels, for all is measured anew and then fitted:

    tests/bench/estimate_table.py BUILD_FOLDER --fit

Each model and batch is a process of its own, with Mesa's shader cache off, so that every shader is compiled: what a first
start takes; what else changes a process's memory (LD_PRELOAD, GLIBC_TUNABLES, MALLOC_*) is left out of its environment.
Wants what `setup.sh tests` fetches and the networks that `tests/backbones.sh --size 96 --opset 13 --runs 0` exports. FOLDER
keeps what was measured; what it has already is not measured again.

What the driver itself takes of the process (`process.*` of caps/lavapipe.json) is a straight line whose coefficients are
fitted to half of the models, every second of the list; --fit writes them into the caps file. The other half is held out.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy

from tables import ROOT, cache_folder, mebibytes, table, write_between_marks

CAPS = ROOT / "caps/lavapipe.json"
BATCHES = [1, 2, 4, 8]
BACKBONES = "backbones/size_96_batch_1_opset_13"
# Every second one is held out: files first, then torchvision's networks at 96 by 96.
MODELS = [
    ("ch_ppocr_mobile_v2.0_cls_infer.onnx", "x=1x3x48x192"),
    ("ch_PP-OCRv4_rec_infer.onnx", "x=1x3x48x320"),
    ("ch_PP-OCRv4_det_infer.onnx", "x=1x3x96x320"),
    ("face_detection_short_range.tflite", None),
    ("face_landmark.tflite", None),
    ("hand_landmark_lite.tflite", None),
    ("hand_landmark_full.tflite", None),
    ("palm_detection_lite.tflite", None),
    ("selfie_segmentation_landscape.tflite", None),
    ("pose_landmark_lite.tflite", None),
    ("mobilenet_v2", None),
    ("mobilenet_v3_large", None),
    ("squeezenet1_1", None),
    ("shufflenet_v2_x1_0", None),
    ("efficientnet_b0", None),
    ("resnet18", None),
    ("mnasnet1_0", None),
    ("lraspp_mobilenet_v3_large", None),
]
CURVE = "pose_landmark_lite.tflite"
TRAITS = ["process.driver_bytes", "process.bytes_per_operation", "process.bytes_per_operation_of_largest"]
# Memory of the process besides the driver's.
KNOWN = ["weights", "in_out", "intermediates", "workspace", "staging"]


class Tool:
    def __init__(self, build):
        self.path = pathlib.Path(build) / "tools/vellum/vellum"
        self.data = cache_folder()
        icd = sorted(pathlib.Path("/usr/share/vulkan/icd.d").glob("lvp_icd*.json"))[0]
        self.environment = {name: value for name, value in os.environ.items()
                            if name not in ("LD_PRELOAD", "GLIBC_TUNABLES", "VK_LAYER_ENABLES", "VK_INSTANCE_LAYERS")
                            and not name.startswith("MALLOC_")}
        self.environment |= {"VK_ICD_FILENAMES": str(icd), "MESA_SHADER_CACHE_DISABLE": "1"}

    def __call__(self, *arguments):
        for _ in range(3):  # a busy machine may take longer to compile all shaders than Vellum waits
            done = subprocess.run([self.path, *arguments], capture_output=True, text=True, env=self.environment)
            if done.returncode == 0:
                return done.stdout
            print(f"vellum {' '.join(map(str, arguments))}: {done.stderr}", file=sys.stderr)
        sys.exit(1)

    def file(self, model):
        return self.data / "models" / model if "." in model else self.data / BACKBONES / model / "model.onnx"

    def estimate(self, model, shape, batch, caps, *more):
        arguments = ["estimate", self.file(model), "--json", "--batch", str(batch), "--caps", caps, *more]
        return json.loads(self(*arguments, *(["--shape", shape] if shape else [])))["points"][0]

    def curve(self, file, picture, *points):
        """Estimates as a table, and as a picture of the page."""
        image = f"docs/images/{picture}.svg"
        document = json.loads(self("estimate", file, "--caps", CAPS, "--json", "--svg", ROOT / image, *points))
        keys = ["weights", "in_out", "intermediates", "workspace", "staging", "resident", "total"]
        rows = []
        for point in document["points"]:
            cells = [point["estimate"][key] for key in keys] + [point["shape_inference_total"]]
            rows.append([str(point["x"]), *(mebibytes(cell, 1) for cell in cells)])
        titles = ["", *(key.replace("in_out", "inputs, outputs") for key in keys), "shape inference"]
        return table(titles, rows) + f"\n![Memory over what changes](../images/{picture}.svg)\n"


class Row:
    """A model with a batch: what was measured, and its estimates."""

    def __init__(self, tool, folder, index, batch):
        self.model, self.shape = MODELS[index]
        self.batch = batch
        self.held_out = index % 2 == 1
        kept = folder / f"{self.model}.{batch}.json"
        if not kept.exists():
            kept.write_text(json.dumps(tool.estimate(self.model, self.shape, batch, CAPS, "--measure"), indent=1))
            print(self.model, batch, file=sys.stderr)
        self.measured = json.loads(kept.read_text())
        self.process = self.measured["process_bytes"]

    def estimate(self, tool, saved):
        self.estimated = tool.estimate(self.model, self.shape, self.batch, CAPS)
        self.estimated_saved = tool.estimate(self.model, self.shape, self.batch, saved)

    def equation(self):
        """Factors of the traits, and what they have to add up to."""
        parts, use = self.estimated["resident_parts"], self.estimated["estimate"]
        known = sum(use[key] for key in KNOWN) + parts["padding"] + parts["host"]
        return [1, self.estimated["shader_operations"], self.estimated["largest_shader_operations"]], known


def fit(rows):
    """The traits with the least sum of squares of relative errors of the whole process."""
    factors = numpy.array([row.equation()[0] for row in rows], dtype=float)
    known = numpy.array([row.equation()[1] for row in rows], dtype=float)
    process = numpy.array([row.process for row in rows], dtype=float)
    return numpy.linalg.lstsq(factors / process[:, None], (process - known) / process, rcond=None)[0]


def errors(rows, traits):
    estimated = numpy.array([numpy.dot(row.equation()[0], traits) + row.equation()[1] for row in rows])
    process = numpy.array([row.process for row in rows], dtype=float)
    return 100 * abs(estimated - process) / process


def write_traits(traits):
    caps = json.loads(CAPS.read_text())
    if min(traits) < 0:
        sys.exit(f"{dict(zip(TRAITS, traits))}: memory that is less than nothing; is the machine short of it?")
    caps.update((name, round(value, digits)) for name, value, digits in zip(TRAITS, map(int, traits), [-3, 0, 0]))
    CAPS.write_text(json.dumps(caps, indent=2) + "\n")


def off(estimated, real):
    return 100 * abs(estimated - real) / real if real else 0.0


def errors_table(rows):
    lines = []
    worst = {"device": 0.0, "saved": 0.0, "shipped": 0.0}
    process = {True: [], False: []}
    for row in rows:
        real = row.measured["vulkan"]["measured"]["peak"]
        found = {"device": off(row.measured["vulkan"]["device_estimate"]["peak"], real),
                 "saved": off(row.estimated_saved["vulkan"]["estimate"]["peak"], real),
                 "shipped": off(row.estimated["vulkan"]["estimate"]["peak"], real)}
        worst = {key: max(worst[key], found[key]) for key in worst}
        total = row.estimated["estimate"]["total"]
        process[row.held_out].append(off(total, row.process))
        lines.append([f"{row.model}{'' if row.held_out else ' *'}", str(row.batch), mebibytes(real),
                      *(f"{found[key]:.2f}%" for key in worst), mebibytes(row.process, 1), mebibytes(total, 1),
                      f"{process[row.held_out][-1]:.1f}%"])
    text = table(["model", "batch", "allocated from Vulkan, MiB", "estimated on the device", "from caps saved there",
                  "from `caps/lavapipe.json`", "whole process, MiB", "estimated from `caps/lavapipe.json`", "error"], lines)
    text += f"\n{len(MODELS)} models, {len(rows)} rows. Allocations: at worst {worst['device']:.2f}% off when the device is asked, "
    text += f"{worst['saved']:.2f}% from caps saved on it, {worst['shipped']:.2f}% from `caps/lavapipe.json`.\n"
    for held_out, words in [(False, "models that the figures were fitted to (*)"), (True, "models that were held out")]:
        found = process[held_out]
        text += f"The whole process, {words}: at worst {max(found):.1f}%, on average {numpy.mean(found):.1f}%, within 10% in "
        text += f"{sum(error <= 10 for error in found)} of {len(found)} rows.\n"
    return text


def both_ways(rows):
    """The halves change places."""
    halves = [[row for row in rows if row.held_out == side] for side in (False, True)]
    lines = []
    for name, here, there in [("models marked *", *halves), ("the others", *reversed(halves))]:
        traits = fit(here)
        lines.append([name, f"{traits[0] / 1e6:.1f}", *(f"{value / 1e3:.2f}" for value in traits[1:]),
                      f"{errors(here, traits).max():.1f}%", f"{errors(there, traits).max():.1f}%"])
    return "\n" + table(["fitted to", "driver, MB", "an operation, kB", "of the largest pipeline, kB", "worst error there",
                         "worst error on the others"], lines)


def curves(tool, scratch):
    export = [sys.executable, ROOT / "tests/oracles/export_attention.py", "--out", scratch, "--width", "128"]
    subprocess.run(export, check=True, stdout=sys.stderr)
    attention = scratch / "model.onnx"
    text = f"\nMiB over batch size, `{CURVE}`:\n\n"
    text += tool.curve(tool.file(CURVE), "estimate_batch", "--batch", "1,2,4,8,16,32")
    lengths = ["--sweep", "tokens:1=64,128,256,512,1024,2048"]
    text += "\nMiB over sequence length, two encoder layers of width 128 with four heads (`tests/oracles/export_attention.py`), "
    text += "without fused attention: the products of queries and keys are tensors of length × length for each head, so that "
    text += "the intermediate tensors grow with its square.\n\n"
    text += tool.curve(attention, "estimate_attention_apart", *lengths, "--disable-pass", "fuse_attention")
    text += "\nAs sessions run it, with fused attention: they grow with the length.\n\n"
    return text + tool.curve(attention, "estimate_attention", *lengths)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--measurements", type=pathlib.Path)
    parser.add_argument("--fit", action="store_true")
    arguments = parser.parse_args()
    tool = Tool(arguments.build)
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.measurements or pathlib.Path(scratch) / "measurements"
        folder.mkdir(parents=True, exist_ok=True)
        rows = [Row(tool, folder, index, batch) for index in range(len(MODELS)) for batch in BATCHES]
        scratch = pathlib.Path(scratch)
        saved = scratch / "saved.json"
        tool("devices", "--save-caps", saved)
        for row in rows:
            row.estimate(tool, saved)
        if arguments.fit:
            write_traits(fit([row for row in rows if not row.held_out]))
            for row in rows:
                row.estimate(tool, saved)
        text = errors_table(rows) + both_ways(rows) + curves(tool, scratch)
    write_between_marks("estimate.md", "estimates", text)
    print(text)


main()
