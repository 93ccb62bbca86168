#!/usr/bin/env bash
# Runs the tests of both plug-ins with AddressSanitizer on lavapipe: no error may be reported, and no leak with a function of a
# plug-in in its stack. (Python and the engines, which are built without the sanitizer, leak at their end.)
#   ONNXRUNTIME_PYTHON=python3 TFLITE_PYTHON=python3 ONNXRUNTIME_JAR=FILE.jar tests/sanitizers/plugins.sh [TEST...]
# The variables name what docs/onnxruntime.md and docs/tflite_delegate.md require for the tests of the plug-in; a plug-in without
# its variable is not tested, and without the jar the program in C is not run. TEST: a name of a test file without test_ and .py,
# by default those of sessions, faults and device memory. (test_leaks.py measures the process, which the sanitizer keeps large.)
# Needs the headers of `./setup.sh onnxruntime tflite`. Builds in build/sanitize, as tests/sanitize.sh does: one unity build
# without optimisation.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${BUILD_DIR:-$root/build/sanitize}
tests=("$@")
(($#)) || tests=(sessions faults context device_tensors delegate)

options=(-DCMAKE_BUILD_TYPE=None "-DCMAKE_CXX_FLAGS=-O0" -DCMAKE_UNITY_BUILD=ON -DVELLUM_SANITIZE=address -DVELLUM_BUILD_TESTS=ON
  -DVELLUM_BUILD_SAMPLES=ON "-DVELLUM_TEST_DATA=$("$root/setup.sh" where)")
if command -v ccache >/dev/null; then
  options+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
targets=(fault_layer)
if [[ -n ${ONNXRUNTIME_PYTHON-} ]]; then
  options+=(-DVELLUM_BUILD_ONNXRUNTIME=ON "-DVELLUM_ONNXRUNTIME_PYTHON=$ONNXRUNTIME_PYTHON")
  targets+=(vellum_onnxruntime)
fi
if [[ -n ${ONNXRUNTIME_PYTHON-} && -n ${ONNXRUNTIME_JAR-} ]]; then
  options+=("-DVELLUM_ONNXRUNTIME_JAR=$ONNXRUNTIME_JAR")
  targets+=(onnxruntime_c_test)
fi
if [[ -n ${TFLITE_PYTHON-} ]]; then
  options+=(-DVELLUM_BUILD_TFLITE=ON "-DVELLUM_TFLITE_PYTHON=$TFLITE_PYTHON")
  targets+=(vellum_tflite_delegate)
fi
((${#targets[@]} > 1)) || { echo "plugins.sh: neither ONNXRUNTIME_PYTHON nor TFLITE_PYTHON is set" >&2; exit 2; }
cmake -S "$root" -B "$build" -G Ninja "${options[@]}" >/dev/null
cmake --build "$build" -j "${JOBS:-2}" --target "${targets[@]}"

reports=$(mktemp -d)
trap 'rm -rf "$reports"' EXIT
icd=$(printf '%s\n' /usr/share/vulkan/icd.d/lvp_icd*.json | head -n 1)
export VK_ICD_FILENAMES=$icd VK_DRIVER_FILES=$icd VELLUM_TEST_DATA
VELLUM_TEST_DATA=$("$root/setup.sh" where)
VELLUM_FAULT_LAYER=$(find "$build/tests/fault_layer" -name 'libfault_layer*.so' -print -quit)
export VELLUM_FAULT_LAYER PYTHONPATH=$build/bindings/onnxruntime
export VELLUM_TFLITE_DELEGATE=$build/bindings/tflite/libvellum_tflite_delegate.so
# An error aborts a program, but leaks of Python do not change its exit status: the reports are read below.
export ASAN_OPTIONS=detect_leaks=1:exitcode=0:abort_on_error=1:log_path=$reports/report:stack_trace_format='"    #%n %M %F %S"'
export LSAN_OPTIONS=suppressions=$root/tests/sanitizers/leak.supp:print_suppressions=0

failed=0
# The sanitizer looks for the functions that throw when it is loaded, and Python is a program in C.
preloaded="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libstdc++.so)"
# run_pytest PYTHON FOLDER: those of the test files that the folder has.
run_pytest() {
  local files=() name
  for name in "${tests[@]}"; do [[ ! -f $2/test_$name.py ]] || files+=("$2/test_$name.py"); done
  ((${#files[@]} == 0)) || LD_PRELOAD=$preloaded "$1" -B -m pytest -q -p no:cacheprovider "${files[@]}" || failed=1
}
if [[ -n ${ONNXRUNTIME_PYTHON-} ]]; then run_pytest "$ONNXRUNTIME_PYTHON" "$root/bindings/onnxruntime/tests"; fi
if [[ -n ${TFLITE_PYTHON-} ]]; then run_pytest "$TFLITE_PYTHON" "$root/bindings/tflite/tests"; fi
if [[ " ${targets[*]} " == *" onnxruntime_c_test "* ]]; then
  "$build/tests/onnxruntime/onnxruntime_c_test" "$build/tests/onnxruntime/ai/onnxruntime/native/linux-x64/libonnxruntime.so" \
    "$build/bindings/onnxruntime/libvellum_onnxruntime.so" \
    "$VELLUM_TEST_DATA/models/face_detection_front_128x128_barracuda.onnx" || failed=1
fi
/usr/bin/python3 -B "$root/tests/sanitizers/plugin_reports.py" "$reports" || failed=1
exit $failed
