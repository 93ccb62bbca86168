#!/usr/bin/env bash
# Runs a small part of the tests with AddressSanitizer: the fuzz targets' seeds and regression files and mutated models, in all
# stages that need no device. One unity build of what these link, in build/sanitize, without optimisation: with -O1 the compiler
# takes half as long again, which these tests do not gain back. The seeds come from build/tests, if that is built: to make them
# takes the rest of the library. The preset asan has UndefinedBehaviorSanitizer besides, which takes longer to compile, the other
# tests, hostile files and models on lavapipe (tests/nightly.sh).
#
#   tests/sanitize.sh [ARGUMENTS OF ctest...]
# TESTS_BUILD: the build that has the program of the seeds.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${BUILD_DIR:-$root/build/sanitize}

targets=(onnx_fuzzer tflite_mutations text_fuzzer)
seeds=
make_seeds=${TESTS_BUILD:-$root/build/tests}/tests/fuzz/fuzz_seeds
if [[ -x $make_seeds ]]; then
  seeds=$build/seeds
  mkdir -p "$build"
  "$make_seeds" "$seeds"
else
  targets+=(fuzz_seeds)
fi

options=(-DCMAKE_BUILD_TYPE=None "-DCMAKE_CXX_FLAGS=-O0" "-DVELLUM_FUZZ_SEEDS=$seeds" -DCMAKE_UNITY_BUILD=ON -DVELLUM_SANITIZE=address
  -DVELLUM_BUILD_TESTS=ON -DVELLUM_BUILD_SAMPLES=ON)
if command -v ccache >/dev/null; then
  options+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
cmake -S "$root" -B "$build" -G Ninja "${options[@]}" >/dev/null
cmake --build "$build" --target "${targets[@]}"
export LSAN_OPTIONS=suppressions=$root/tests/sanitizers/leak.supp
exec ctest --test-dir "$build" --output-on-failure -j2 -R '^(fuzz_seeds|fuzz[.].*)$' -LE '^gpu$' "$@"
