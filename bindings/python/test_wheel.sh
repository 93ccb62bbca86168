#!/usr/bin/env bash
# Builds the wheel in a clean virtual environment, makes it complete with auditwheel, installs it in another one, and runs
# there, on lavapipe: a script of five lines, the tests and mypy. Prints the wheel's size and the time to install it.
#   bindings/python/test_wheel.sh [--torch | --build]
# --torch: also the program of docs/python.md that exports networks from torch, which is gigabytes to fetch from PyPI and 5.3 GB
# installed; --build: the wheel, and no tests.
# Needs what `./setup.sh build tests` installs, and python3-venv. Packages come from PyPI, by tests/requirements*.txt.
# The wheel is left in $WHEEL_DIR, by default build/wheel/dist; CMake's own build folder is build/wheel.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../wheel.sh"
torch= tests=yes
case ${1-} in
  '') ;;
  --torch) torch=yes ;;
  --build) tests= ;;
  *) sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
begin_wheel wheel
build_wheel "$here" vellum
"$scratch/build/bin/python" - "$wheel" <<'PYTHON'
import sys, zipfile
files = zipfile.ZipFile(sys.argv[1]).infolist()
names = [file.filename for file in files]
libraries = sorted(name for name in names if ".so" in name)
assert {"vellum/libvellum.so", "vellum/bin/vellum", "vellum/py.typed", "vellum/_c_api.py", "vellum/_option_types.py"} <= set(names), names
assert not any("vulkan" in name for name in libraries), libraries
licences = {name.split("licenses/")[1] for name in names if ".dist-info/licenses/" in name}
assert {"LICENSE", "NOTICE", "licences/libprotobuf-dev.txt", "licences/libfmt-dev.txt", "licences/glslang-dev.txt"} <= licences, licences
print("libraries:", *libraries)
print(f"{sum(file.file_size for file in files) / 2**20:.1f} MiB unpacked")
PYTHON
print_size

[[ -n $tests ]] || exit 0

step "install"
venv use "$here/tests/requirements.txt"
python=$scratch/use/bin/python
begin=$(date +%s%N)
"$scratch/use/bin/pip" install --quiet --no-index --no-deps "$wheel"
printf 'installed in %d ms\n' $((($(date +%s%N) - begin) / 1000000))

step "five lines"
cd "$scratch"
cat >five.py <<'PYTHON'
import numpy, sys, vellum
session = vellum.Session(sys.argv[1])
image = numpy.random.default_rng(1).random(session.inputs[0].shape, numpy.float32)
numpy.save("image.npy", image)
numpy.savez("outputs.npz", **session.run({session.inputs[0].name: image}))
PYTHON
model=$VELLUM_TEST_DATA/models/face_detection_front_128x128_barracuda.onnx
"$python" five.py "$model"
"$scratch/use/bin/vellum" run "$model" -i input:0=image.npy -o tool >/dev/null
"$python" - <<'PYTHON'
import numpy
for name, values in numpy.load("outputs.npz").items():
    assert values.tobytes() == numpy.load(f"tool/{name.replace(':', '_')}.npy").tobytes(), name
print("equal bit for bit to the tool")
PYTHON

step "tests"
"$python" -B -m pytest -q -p no:cacheprovider "$here/tests"

step "mypy --strict"
"$python" -m mypy --strict -p vellum
cat >use.py <<'PYTHON'
import vellum
session = vellum.Session("model.onnx", 0, precision="fp16", in_flight=2)
print(session.run({})["scores"].shape, session.run({}, ["scores"])[0].dtype, session.submit({}).result().keys())
vellum.Session("model.onnx", precision="fp8")  # type: ignore[arg-type]
vellum.Session("model.onnx", memory_limit=1)  # type: ignore[call-arg]
mask = vellum.Model("model.onnx").with_picture("scores", vellum.PictureOutput("steps", palette=[(0, 0, 0, 0), (9, 8, 7)], over="x"))
image = session.inputs[0].zeros()
print(session.run(image)["scores"].shape, session.run(None, {"x": image})[0].shape, session.run(["scores"], {"x": image})[0].shape)
print(vellum.Session(mask, memory_budget="1MiB").run({})["scores"].shape, vellum.PictureOutput().low + 1)
vellum.PictureOutput("heat")  # type: ignore[arg-type]
PYTHON
"$python" -m mypy --strict use.py
"$python" "$here/tests/docs_types.py"

if [[ -n $torch ]]; then
  step "torch"
  venv torch "$here/tests/requirements-torch.txt"
  "$scratch/torch/bin/pip" install --quiet --no-index --no-deps "$wheel"
  "$scratch/torch/bin/python" "$here/tests/docs_programs.py" --torch
  "$scratch/torch/bin/pip" install --quiet pytest==9.2.0
  "$scratch/torch/bin/python" -B -m pytest -q -p no:cacheprovider "$here/tests/test_torch_compile.py"
else
  echo "skipped: the program of docs/python.md that exports networks from torch; --torch runs it (gigabytes from PyPI)"
fi
