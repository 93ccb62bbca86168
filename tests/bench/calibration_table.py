#!/usr/bin/python3
"""Measures how well `vellum devices --calibrate` lets `vellum estimate` predict the memory of a whole process, and writes the
table between the marks of docs/benchmarks/estimate.md anew:

    tests/bench/calibration_table.py BUILD_FOLDER

Each driver is calibrated with the probes (runtime/estimate/driver_probes.cpp), which have nothing of the networks measured here.
Then each network and batch is a process of its own, compiled with Mesa's cache off. `128 bits` is lavapipe as on a processor
with vectors of that width (LP_NATIVE_VECTOR_WIDTH), which makes it another machine to the driver's compiler.
Wants what estimate_table.py wants; networks that are not there are left out.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from tables import ROOT, cache_folder, mebibytes, table, write_between_marks

CAPS = ROOT / "caps/lavapipe.json"
BACKBONES = "backbones/size_96_batch_1_opset_13"
MODELS = [
    ("ch_PP-OCRv4_det_infer.onnx", "x=1x3x96x320"),
    ("face_detection_short_range.tflite", None),
    ("hand_landmark_full.tflite", None),
    ("pose_landmark_lite.tflite", None),
    ("squeezenet1_1", None),
    ("mobilenet_v2", None),
    ("mobilenet_v3_large", None),
    ("shufflenet_v2_x1_0", None),
    ("efficientnet_b0", None),
    ("resnet18", None),
]


def drivers():
    """Names, environments, and what is measured: networks and batches."""
    lavapipe = sorted(pathlib.Path("/usr/share/vulkan/icd.d").glob("lvp_icd*.json"))[0]
    yield "lavapipe", {"VK_ICD_FILENAMES": str(lavapipe)}, MODELS, [1, 4]
    yield "lavapipe, 128 bits", {"VK_ICD_FILENAMES": str(lavapipe), "LP_NATIVE_VECTOR_WIDTH": "128"}, MODELS[::2], [1]


class Tool:
    def __init__(self, build, environment, cache):
        self.path = pathlib.Path(build) / "tools/vellum/vellum"
        self.cache = cache
        self.environment = {name: value for name, value in os.environ.items()
                            if name not in ("LD_PRELOAD", "GLIBC_TUNABLES", "VK_LAYER_ENABLES", "VK_INSTANCE_LAYERS")
                            and not name.startswith(("MALLOC_", "LP_"))}
        self.environment |= {"MESA_SHADER_CACHE_DISABLE": "1", **environment}

    def __call__(self, *arguments):
        done = subprocess.run([self.path, *arguments, "--json"], capture_output=True, text=True, env=self.environment)
        if done.returncode != 0:
            sys.exit(f"vellum {' '.join(map(str, arguments))}: {done.stderr}")
        return json.loads(done.stdout)

    def point(self, file, shape, batch, *more):
        options = ["--shape", shape] if shape else []
        return self("estimate", file, "--batch", str(batch), *options, *more)["points"][0]


def off(estimated, real):
    return 100 * (estimated - real) / real


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    arguments = parser.parse_args()
    data = cache_folder()
    lines, summary = [], ""
    for driver, environment, models, batches in drivers():
        errors = []
        with tempfile.TemporaryDirectory() as cache:
            os.chmod(cache, 0o700)
            tool = Tool(arguments.build, environment, cache)
            tool("devices", "--calibrate", "--cache", cache)
            for name, shape in models:
                file = data / "models" / name if "." in name else data / BACKBONES / name / "model.onnx"
                if not file.exists():
                    print(f"{file} is missing", file=sys.stderr)
                    continue
                for batch in batches:
                    point = tool.point(file, shape, batch, "--measure", "--cache", cache)
                    real, total = point["process_bytes"], point["estimate"]["total"]
                    driver_bytes = sum(point["resident_parts"][key] for key in ("driver", "pipelines"))
                    before = tool.point(file, shape, batch, "--caps", CAPS)
                    interval = before["interval"]
                    errors.append(abs(off(total, real)))
                    lines.append([driver, name, str(batch), mebibytes(real, 1), f"{off(total - driver_bytes, real):+.1f}%",
                                  f"{off(before['estimate']['total'], real):+.1f}%",
                                  f"{mebibytes(interval['least'], 0)} to {mebibytes(interval['most'], 0)}",
                                  mebibytes(total, 1), f"{off(total, real):+.1f}%"])
                    print(*lines[-1], file=sys.stderr)
        summary += f"{driver}: after calibration at worst {max(errors):.1f}% off, on average {sum(errors) / len(errors):.1f}%, "
        summary += f"within 10% in {sum(error <= 10 for error in errors)} of {len(errors)} rows.\n"
    titles = ["driver", "network", "batch", "whole process, MiB", "without the driver", "`caps/lavapipe.json`",
              "its interval, MiB", "calibrated, MiB", "error"]
    text = table(titles, lines) + "\n" + summary
    write_between_marks("estimate.md", "calibration", text)
    print(text)


main()
