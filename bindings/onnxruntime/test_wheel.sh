#!/usr/bin/env bash
# Builds the wheel onnxruntime-vellum, makes it complete with auditwheel, and runs the provider's tests with it on lavapipe, in a
# clean virtual environment that has ONNX Runtime from PyPI.
#   bindings/onnxruntime/test_wheel.sh [--build | --applications]
# --build: the wheel, and no tests; --applications: also RapidOCR and NudeNet of PyPI with the wheel's provider (200 MB to fetch).
# Needs what `./setup.sh build onnxruntime models` installs, and python3-venv. Packages come from PyPI.
# The wheel is left in $WHEEL_DIR, by default build/wheel-onnxruntime/dist; CMake's own build folder is build/wheel-onnxruntime.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../wheel.sh"
applications= tests=yes
case ${1-} in
  '') ;;
  --applications) applications=yes ;;
  --build) tests= ;;
  *) sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
begin_wheel wheel-onnxruntime
build_wheel "$here/python" onnxruntime_vellum
"$scratch/build/bin/python" - "$wheel" <<'PYTHON'
import sys, zipfile
names = {file.filename for file in zipfile.ZipFile(sys.argv[1]).infolist()}
libraries = sorted(name for name in names if ".so" in name)
assert {"onnxruntime_vellum/__init__.py", "onnxruntime_vellum/__main__.py", "onnxruntime_vellum/libvellum_onnxruntime.so"} <= names, names
assert not any("vulkan" in name or "libonnxruntime" in name for name in libraries), libraries
print("libraries:", *libraries)
PYTHON
/usr/bin/python3 -B "$root/packaging/check_packages.py" "$wheel"
print_size

[[ -n $tests ]] || exit 0

step "tests"
venv use "$root/bindings/python/tests/requirements.txt"
"$scratch/use/bin/pip" install --quiet onnxruntime==1.32.0 onnx==1.23.2
"$scratch/use/bin/pip" install --quiet --no-index --no-deps "$wheel"
cd "$scratch"
"$scratch/use/bin/python" -B -m pytest -q -p no:cacheprovider "$here"/tests/test_{claims,sessions,context,device_tensors}.py

[[ -n $applications ]] || exit 0

step "applications"
"$scratch/use/bin/pip" install --quiet rapidocr==3.10.0 nudenet==3.4.2
"$scratch/use/bin/python" -B -m pytest -q -rs -p no:cacheprovider "$here"/tests/test_applications.py -k 'rapidocr or nudenet'
