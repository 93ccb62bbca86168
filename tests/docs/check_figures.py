#!/usr/bin/python3
"""Computes the figures and pictures of the docs that a command prints in seconds, and fails where a page has others:
    check_figures.py BUILD_FOLDER [--renew]
--renew writes pictures, blocks and rows anew; a sentence that differs is printed, for a person to write. Needs what `setup.sh models`
fetches. Times, and all that takes minutes, are not here: docs/benchmarks/README.md lists at which revision they were measured.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/bench"))
import memory_tables  # noqa: E402
from tables import cache_folder, mebibytes  # noqa: E402

CAPS = ["--caps", str(ROOT / "caps/lavapipe.json")]
NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight"]
FRONT, BACK = "face_detection_front_128x128_barracuda.onnx", "face_detection_back_256x256_barracuda.onnx"
POOLED = ["face_detection_short_range", "face_landmark_with_attention", "selfie_segmentation", "pose_landmark_lite", "hand_landmark_lite"]


class Docs:
    def __init__(self, build, renew):
        self.tool = pathlib.Path(build) / "tools/vellum/vellum"
        self.build = pathlib.Path(build)
        self.models = cache_folder() / "models"
        self.renew = renew
        self.checked = self.wrong = 0

    def model(self, name):
        return str(self.models / name)

    def run(self, *words):
        return subprocess.run([str(self.tool), *words], check=True, capture_output=True, text=True).stdout

    def json(self, *words):
        return json.loads(self.run(*words, "--json"))

    def compare(self, name, storage):
        rows = self.json("plan", self.model(name), "--compare", "--storage", storage, *CAPS)["comparison"]
        return {(row["mode"], row["ways"]): row for row in rows}

    def report(self, page, problem):
        self.wrong += 1
        print(f"{page}: {problem}")

    def sentence(self, page, text):
        """The page has this text, however its lines are broken."""
        self.checked += 1
        if " ".join(text.split()) not in " ".join((ROOT / page).read_text().split()):
            self.report(page, f"does not say: {text}")

    def lines(self, page, pattern, wanted):
        """What the group `it` of the pattern matches in the page is `wanted`."""
        self.checked += 1
        text = (ROOT / page).read_text()
        match = re.search(pattern, text, re.MULTILINE | re.DOTALL)
        if not match:
            self.report(page, f"has nothing like {pattern}")
        elif match["it"] != wanted and self.renew:
            (ROOT / page).write_text(text[: match.start("it")] + wanted + text[match.end("it") :])
        elif match["it"] != wanted:
            self.report(page, f"has\n{match['it']}\nin place of\n{wanted}")

    def picture(self, name, *words):
        """The picture is what the command draws with --svg."""
        self.checked += 1
        file = ROOT / "docs/images" / name
        with tempfile.TemporaryDirectory() as folder:
            drawn = pathlib.Path(folder) / name
            self.run(*words, "--svg", str(drawn))
            if drawn.read_bytes() == file.read_bytes():
                return
            if self.renew:
                file.write_bytes(drawn.read_bytes())
            else:
                self.report(file.relative_to(ROOT), "is not what this draws: vellum " + " ".join(words))


def check_readme(docs):
    lines = docs.compare(BACK, "image2d")
    all_of, naive = lines["shared-objects", "all"], lines["naive", "none"]
    words = f"{all_of['tensors']} tensors share {NUMBERS[all_of['images']]} textures"
    docs.sentence("README.md", f"{words}, {mebibytes(all_of['planned_bytes'], 1)} MiB together; in memory of their own they would"
                               f" take {mebibytes(naive['planned_bytes'], 1)} MiB")
    docs.picture("blazeface_back_objects.svg", "plan", docs.model(BACK), *CAPS, "--storage", "image2d", "--mode", "objects",
                 "--strategy", "best")


def check_tool_page(docs):
    """The end of what the demo prints."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([docs.build / "samples/face_detection/face_detection", docs.model(FRONT),
                               docs.models.parent / "photos/astronaut.png", "-o", folder + "/faces.png", "--storage", "image2d",
                               "--reuse-table"], check=True, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    begin = next(i for i, line in enumerate(lines) if line.endswith("found"))
    printed = [line for line in lines[begin:] if not re.match(r" {4}[a-z]|annotated", line)]
    docs.lines("docs/tool.md", r"^(?P<it>1 face found\n.*?)^```", "\n".join(printed) + "\n")


def check_memory_page(docs):
    folder = docs.models
    pool = docs.json("pool", *[str(folder / f"{name}.tflite") for name in POOLED], *CAPS)
    together, apart = mebibytes(pool["pool_bytes"]), mebibytes(pool["bytes_apart"])
    docs.sentence("docs/memory.md", f"need {together} MiB in a pool, and {apart} MiB apart")
    docs.picture("memory_pool.svg", "pool", *[str(folder / f"{name}.tflite") for name in POOLED], *CAPS)
    docs.picture("memory_frontier.svg", "estimate", docs.model("hand_landmark_full.tflite"), "--frontier", *CAPS)


def check_memory_tables(docs):
    """The rows of a few networks; `memory_tables.py BUILD --planned` writes all of them."""
    models = json.loads((ROOT / "tests/models.json").read_text())["models"]
    few = [model for model in models if model["title"] in ("BlazeFace front", "BlazeFace back", "PP-OCR direction")]
    for storage, title in (("image2d", "images"), ("buffer", "buffers")):
        text = memory_tables.planned_table(docs.build, docs.models, few, storage)
        for row in text.splitlines()[2:]:
            name = re.escape(row.split("|")[1])
            docs.lines("docs/benchmarks/memory.md", rf"^Tensors in {title}:\n.*?(?P<it>^\|{name}\|[^\n]*)", row)


def check_models_page(docs):
    """Memory by storage; the times in the same rows stay as they are."""
    for name, file in (("BlazeFace front, 128 x 128", FRONT), ("BlazeFace back, 256 x 256", BACK),
                       ("M-LSD tiny, 320 x 320", "mlsd_320x320_tiny.onnx")):
        images, buffers = docs.compare(file, "image2d"), docs.compare(file, "buffer")
        naive, shared = images["naive", "none"]["planned_bytes"], images["shared-objects", "all"]["planned_bytes"]
        plan = docs.json("plan", docs.model(file), "--storage", "image2d", "--mode", "objects", "--strategy", "best", *CAPS)
        cells = [f"{mebibytes(naive)} MiB", f"{mebibytes(shared)} MiB ({100 * shared / naive:.1f}%)",
                 f"{mebibytes(plan['objects_lower_bound_bytes'])} MiB",
                 f"{mebibytes(buffers['shared-objects', 'all']['planned_bytes'])} MiB"]
        row = re.search(rf"^\| {re.escape(name)} \|[^|]*\|[^|]*\|", (ROOT / "docs/benchmarks/models.md").read_text(), re.MULTILINE)
        docs.lines("docs/benchmarks/models.md", rf"(?P<it>^\| {re.escape(name)} \|[^\n]*)", f"{row[0]} " + " | ".join(cells) + " |")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    docs = Docs(sys.argv[1], "--renew" in sys.argv[2:])
    for check in (check_readme, check_tool_page, check_memory_page, check_memory_tables, check_models_page):
        check(docs)
    print(f"{docs.checked} figures, {docs.wrong} differ")
    return 1 if docs.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
