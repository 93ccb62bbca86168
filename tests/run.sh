#!/usr/bin/env bash
# Installs what is missing, builds everything with the tests, and runs a tier of them:
#   tests/run.sh               those of each commit, and those of `sanitize`
#   tests/run.sh nightly       the others, labelled `nightly`: host logic and whole models on further drivers
#   tests/run.sh quick         those without a device and the essential ones on lavapipe: under 3 minutes after the build
#   tests/run.sh conformance   ONNX's own tests, and whole models against ONNX Runtime, LiteRT and torch
#   tests/run.sh bench         no tests: times kernels against the device's ceilings, then three networks with `vellum bench`
#   tests/run.sh sanitize      a small part with AddressSanitizer, in a build of its own (tests/sanitize.sh)
#   tests/run.sh gpus          no tests here: what the compilers of GPUs make of the kernels, against the recorded scoreboard
# Other arguments go to ctest: tests/run.sh -R planner
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${BUILD_DIR:-$root/build/tests}

"$root/setup.sh" build tests
cache=$("$root/setup.sh" where)
sanitize() { TESTS_BUILD=$build BUILD_DIR=${BUILD_DIR:+$BUILD_DIR/sanitize} "$root/tests/sanitize.sh" "$@"; }
if [[ ${1-} == sanitize ]]; then sanitize "${@:2}"; exit; fi

benchmarks=OFF
if [[ ${1-} == bench ]]; then benchmarks=ON; fi
options=(-DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DVELLUM_BUILD_TESTS=ON -DVELLUM_BUILD_SAMPLES=ON
  "-DVELLUM_BUILD_BENCHMARKS=$benchmarks" "-DVELLUM_TEST_DATA=$cache")
if command -v ccache >/dev/null; then
  options+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
cmake -S "$root" -B "$build" -G Ninja "${options[@]}"
cmake --build "$build"

run() { ctest --test-dir "$build" --output-on-failure -j2 "$@"; }
case ${1-} in
  '')
    status=0
    sanitize || status=$?
    rm -rf "$build/mesa_shader_cache"  # the tests share what lavapipe compiles in this run, and nothing of runs before
    run -LE '^nightly$' --output-junit "$build/results.xml" || status=$?  # from which tests/platforms/debian.sh makes a record
    exit "$status"
    ;;
  nightly) run -L '^nightly$' "${@:2}" ;;
  quick) run -L '^(cpu|quick)$' "${@:2}" ;;
  conformance) run -L '^conformance$' -LE '^nightly$' "${@:2}" ;;
  bench)
    "$root/tests/bench/ceiling_ratios.py" "$build"
    for model in face_detection_front_128x128_barracuda face_detection_back_256x256_barracuda mlsd_320x320_tiny; do
      "$build/tools/vellum/vellum" bench "$cache/models/$model.onnx" "${@:2}"
    done
    ;;
  gpus) exec "$root/tests/gpu_compilers/scoreboard.py" "$build" "${@:2}" ;;
  *) run "$@" ;;
esac
