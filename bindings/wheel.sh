# Functions that both test_wheel.sh share. The script that sources this file has set `here`, its own folder.
#
#   begin_wheel FOLDER
#       Sets `root`, `build` (build/FOLDER, CMake's), `dist` ($WHEEL_DIR, by default dist in it) and `scratch`, a folder that is
#       removed at the end. Everything that starts afterwards sees lavapipe alone.
#   step TEXT...
#       Prints what begins.
#   venv NAME REQUIREMENTS
#       Makes the virtual environment $scratch/NAME with the packages of that file alone.
#   build_wheel SOURCE PACKAGE
#       Builds the wheel of SOURCE in a clean environment, which stays as $scratch/build, makes it complete with auditwheel, and
#       sets `wheel` to its path in `dist`, where older wheels of PACKAGE are removed. Packages come from PyPI.
#   print_size
#       Prints the wheel's name and size.

begin_wheel() {
  root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
  build=$root/build/$1
  dist=${WHEEL_DIR:-$build/dist}
  [[ $dist == /* ]] || dist=$PWD/$dist
  export VELLUM_TEST_DATA VK_LOADER_LAYERS_DISABLE='~implicit~' PIP_DISABLE_PIP_VERSION_CHECK=1
  VELLUM_TEST_DATA=$("$root/setup.sh" where)
  VK_ICD_FILENAMES=$(printf '%s\n' /usr/share/vulkan/icd.d/lvp_icd*.json | head -n 1)
  export VK_ICD_FILENAMES VK_DRIVER_FILES=$VK_ICD_FILENAMES
  unset PYTHONPATH VELLUM_ONNXRUNTIME_LIBRARY
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
}

step() { printf '== %s\n' "$*"; }

venv() {
  /usr/bin/python3 -m venv "$scratch/$1"
  "$scratch/$1/bin/pip" install --quiet --require-hashes --requirement "$2"
}

build_wheel() {
  step "build"
  venv build "$root/bindings/python/tests/requirements.txt"
  if command -v ccache >/dev/null; then
    export CMAKE_ARGS="-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache ${CMAKE_ARGS-}"
  fi
  "$scratch/build/bin/pip" wheel --quiet --no-deps --no-build-isolation --wheel-dir "$scratch/raw" \
    --config-settings "build-dir=$build" "$1"

  step "auditwheel"
  mkdir -p "$dist"
  rm -f "$dist/$2"-*.whl
  # The Vulkan loader belongs to the system, as the drivers that it loads; Vellum opens it at run time.
  PATH=$scratch/build/bin:$PATH auditwheel repair --exclude libvulkan.so.1 --wheel-dir "$dist" "$scratch"/raw/*.whl
  wheel=$(printf '%s\n' "$dist/$2"-*-py3-none-manylinux*.whl)
  [[ -e $wheel ]] || { echo "auditwheel made no wheel for manylinux" >&2; exit 1; }
}

print_size() { printf '%s: %d bytes\n' "${wheel##*/}" "$(stat --format %s "$wheel")"; }
