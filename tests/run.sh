#!/usr/bin/env bash
# Installs what is missing, builds with the tests, and runs them all; without arguments prints before how near kernels come
# to the device's ceilings. Arguments go to ctest: tests/run.sh -R planner
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${BUILD_DIR:-$root/build/tests}

"$root/setup.sh" build tests
cache=$("$root/setup.sh" where)

options=(-DCMAKE_BUILD_TYPE=Release -DVELLUM_BUILD_TESTS=ON -DVELLUM_BUILD_SAMPLES=ON -DVELLUM_BUILD_BENCHMARKS=ON "-DVELLUM_TEST_DATA=$cache")
if command -v ccache >/dev/null; then
  options+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
cmake -S "$root" -B "$build" -G Ninja "${options[@]}"
cmake --build "$build"
# For information: times depend on what else the machine does.
(($#)) || "$root/tests/bench/ceiling_ratios.py" "$build"
exec ctest --test-dir "$build" --output-on-failure -j2 "$@"
