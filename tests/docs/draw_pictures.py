#!/usr/bin/python3
"""Draws the pictures of docs/images again that commands of the docs print in seconds.

  tests/docs/draw_pictures.py BUILD [--output FOLDER]      default: docs/images

BUILD has the tool and the samples. Needs `./setup.sh models`, and Debian's chromium, xvfb and python3-pil. Names the pictures
that changed: look at these. The other pictures of docs/images are of measurements, whose pages have their commands.
"""
import argparse
import glob
import os
import pathlib
import subprocess
import sys
import tempfile

from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parents[2]
CACHE = pathlib.Path(subprocess.run([ROOT / "setup.sh", "where"], capture_output=True, text=True, check=True).stdout.strip())
MODELS, PHOTOS = CACHE / "models", CACHE / "photos"
BACK = MODELS / "face_detection_back_256x256_barracuda.onnx"
POOL = ["face_detection_short_range", "face_landmark_with_attention", "selfie_segmentation", "pose_landmark_lite",
        "hand_landmark_lite"]


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command[0]} failed:\n{done.stderr}")


def draw_memory(tool, out):
    caps = ["--caps", ROOT / "caps/lavapipe.json"]
    options = ["--storage", "image2d", "--mode", "objects", "--strategy", "best"]
    run(tool, "plan", BACK, *caps, *options, "--svg", out / "blazeface_back_objects.svg")
    run(tool, "estimate", MODELS / "hand_landmark_full.tflite", "--frontier", *caps, "--svg", out / "memory_frontier.svg")
    run(tool, "pool", *(MODELS / f"{name}.tflite" for name in POOL), *caps, "--svg", out / "memory_pool.svg")


def draw_profile(tool, out, scratch):
    run(tool, "profile", BACK, "--runs", 30, "--html", scratch / "profile.html")
    run("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1280,800",
        f"--screenshot={out / 'profile_page.png'}", f"file://{scratch}/profile.html")


def draw_samples(build, out, scratch):
    face, detector = PHOTOS / "astronaut.png", MODELS / "face_detection_front_128x128_barracuda.onnx"
    # The command's words after its name, and what of its picture is shown: the left and upper edge, and the width.
    rows = [
        ("face_detection", [detector, face], (0, 0, 512)),
        ("face_mesh", [detector, MODELS / "face_landmark_with_attention.tflite", face], (140, 40, 170)),
        ("selfie_segmentation", [MODELS / "selfie_segmentation.tflite", face, "--background", PHOTOS / "coffee.png"],
         (0, 0, 512)),
        ("object_detection", [MODELS / "object_detection_ssd_mobilenetv2_oidv4_fp16.tflite",
                              MODELS / "object_detection_oidv4_labelmap.txt", PHOTOS / "chelsea.png"], (0, 0, 354)),
        ("line_detection", [MODELS / "mlsd_320x320_tiny.onnx", face], (0, 0, 512)),
        ("ocr", [MODELS / "ch_PP-OCRv4_det_infer.onnx", MODELS / "ch_PP-OCRv4_rec_infer.onnx", MODELS / "ppocr_keys_v1.txt",
                 PHOTOS / "page.png"], (0, 0, 226)),
    ]
    width, height, gap = 260, 220, 10
    montage = Image.new("RGB", (3 * width + 2 * gap, 2 * height + gap), "white")
    for i, (name, words, (left, top, shown)) in enumerate(rows):
        picture = scratch / f"{name}.png"
        run(build / f"samples/{name}/{name}", *words, "--output", picture)
        box = (left, top, left + shown, top + shown * height // width)
        part = Image.open(picture).convert("RGB").crop(box).resize((width, height), Image.LANCZOS)
        montage.paste(part, (i % 3 * (width + gap), i // 3 * (height + gap)))
    montage.save(out / "samples.jpg", quality=90)


def draw_live(build, out, scratch):
    run("xvfb-run", "-a", build / "samples/live/live", MODELS, "--photo", PHOTOS / "astronaut.png", "--frames", 30,
        "--screenshot", scratch / "live.png")
    Image.open(scratch / "live.png").convert("RGB").resize((960, 540), Image.LANCZOS).save(out / "live.jpg", quality=88)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "docs/images")
    arguments = parser.parse_args()
    build, out = arguments.build.resolve(), arguments.output.resolve()
    for variable in ("VK_ICD_FILENAMES", "VK_DRIVER_FILES"):
        os.environ[variable] = glob.glob("/usr/share/vulkan/icd.d/lvp_icd*.json")[0]
    before = {path.name: path.read_bytes() for path in (ROOT / "docs/images").iterdir()}
    tool = build / "tools/vellum/vellum"
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        draw_memory(tool, out)
        draw_profile(tool, out, scratch)
        draw_samples(build, out, scratch)
        draw_live(build, out, scratch)
    for path in sorted(out.iterdir()):
        if path.name in before and path.read_bytes() != before[path.name]:
            print(f"{path.name} changed")


if __name__ == "__main__":
    sys.exit(main())
