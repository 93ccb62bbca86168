#!/usr/bin/env bash
# Builds the wheel onnxruntime-vellum, makes it complete with auditwheel, and runs the provider's tests with it on lavapipe, in a
# clean virtual environment that has ONNX Runtime from PyPI.
#   bindings/onnxruntime/test_wheel.sh [--build | --applications]
# --build: the wheel, and no tests; --applications: also RapidOCR and NudeNet of PyPI with the wheel's provider (200 MB to fetch).
# Needs what `./setup.sh build onnxruntime models` installs, and python3-venv. Packages come from PyPI.
# The wheel is left in $WHEEL_DIR, by default build/wheel-onnxruntime/dist; CMake's own build folder is build/wheel-onnxruntime.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$root/build/wheel-onnxruntime
dist=${WHEEL_DIR:-$build/dist}
[[ $dist == /* ]] || dist=$PWD/$dist
applications= tests=yes
case ${1-} in
  '') ;;
  --applications) applications=yes ;;
  --build) tests= ;;
  *) sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
export VELLUM_TEST_DATA VK_LOADER_LAYERS_DISABLE='~implicit~' PIP_DISABLE_PIP_VERSION_CHECK=1
VELLUM_TEST_DATA=$("$root/setup.sh" where)
VK_ICD_FILENAMES=$(printf '%s\n' /usr/share/vulkan/icd.d/lvp_icd*.json | head -n 1)
export VK_ICD_FILENAMES VK_DRIVER_FILES=$VK_ICD_FILENAMES
unset PYTHONPATH VELLUM_ONNXRUNTIME_LIBRARY
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

step() { printf '== %s\n' "$*"; }
# venv NAME: a virtual environment with the packages that the wheel of Vellum itself is built and tested with.
venv() {
  /usr/bin/python3 -m venv "$scratch/$1"
  "$scratch/$1/bin/pip" install --quiet --require-hashes --requirement "$root/bindings/python/tests/requirements.txt"
}

step "build"
venv build
if command -v ccache >/dev/null; then
  export CMAKE_ARGS="-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache ${CMAKE_ARGS-}"
fi
"$scratch/build/bin/pip" wheel --quiet --no-deps --no-build-isolation --wheel-dir "$scratch/raw" \
  --config-settings "build-dir=$build" "$here/python"

step "auditwheel"
mkdir -p "$dist"
rm -f "$dist"/onnxruntime_vellum-*.whl
# The Vulkan loader belongs to the system, as the drivers that it loads; Vellum opens it at run time.
PATH=$scratch/build/bin:$PATH auditwheel repair --exclude libvulkan.so.1 --wheel-dir "$dist" "$scratch"/raw/*.whl
wheel=$(printf '%s\n' "$dist"/onnxruntime_vellum-*-py3-none-manylinux*.whl)
[[ -e $wheel ]] || { echo "auditwheel made no wheel for manylinux" >&2; exit 1; }
"$scratch/build/bin/python" - "$wheel" <<'PYTHON'
import sys, zipfile
names = {file.filename for file in zipfile.ZipFile(sys.argv[1]).infolist()}
libraries = sorted(name for name in names if ".so" in name)
assert {"onnxruntime_vellum/__init__.py", "onnxruntime_vellum/__main__.py", "onnxruntime_vellum/libvellum_onnxruntime.so"} <= names, names
assert not any("vulkan" in name or "libonnxruntime" in name for name in libraries), libraries
print("libraries:", *libraries)
PYTHON
/usr/bin/python3 -B "$root/packaging/check_packages.py" "$wheel"
printf '%s: %d bytes\n' "${wheel##*/}" "$(stat --format %s "$wheel")"

[[ -n $tests ]] || exit 0

step "tests"
venv use
"$scratch/use/bin/pip" install --quiet onnxruntime==1.32.0 onnx==1.23.2
"$scratch/use/bin/pip" install --quiet --no-index --no-deps "$wheel"
cd "$scratch"
"$scratch/use/bin/python" -B -m pytest -q -p no:cacheprovider "$here"/tests/test_{claims,sessions,context}.py

[[ -n $applications ]] || exit 0

step "applications"
"$scratch/use/bin/pip" install --quiet rapidocr==3.10.0 nudenet==3.4.2
"$scratch/use/bin/python" -B -m pytest -q -rs -p no:cacheprovider "$here"/tests/test_applications.py -k 'rapidocr or nudenet'
