#!/usr/bin/env bash
# Builds from nothing in a folder of its own, without ccache, and prints one row of docs/benchmarks/build.md:
#   tests/bench/build_time.sh demo [cmake option...]   what samples/demo.sh builds
#   tests/bench/build_time.sh all [cmake option...]    everything with tests, as tests/run.sh builds it
# The number of objects, CPU time (user and system, of all processes), and elapsed time, which an idle machine makes comparable.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
case ${1-} in
  demo) target=face_detection options=(-DVELLUM_BUILD_TESTS=OFF) ;;
  all) target=all options=(-DVELLUM_BUILD_TESTS=ON) ;;
  *) sed -n '2,5s/^# //p' "$0" >&2; exit 2 ;;
esac
export CCACHE_DISABLE=1
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON \
  -DVELLUM_BUILD_SAMPLES=ON "${options[@]}" "${@:2}" >/dev/null
objects=$(ninja -C "$build" -t inputs "$target" | grep -c '\.o$')
TIMEFORMAT='%R %U %S'
{ time cmake --build "$build" --target "$target" >"$build/log" 2>&1; } 2>"$build/time" || { tail -n 20 "$build/log" >&2; exit 1; }
read -r elapsed user system <"$build/time"
awk -v what="$1 ${*:2}" -v objects="$objects" -v elapsed="$elapsed" -v user="$user" -v system_time="$system" -v cores="$(nproc)" \
  'BEGIN { printf "| %s | %d | %.1f min | %.1f min on %d cores |\n", what, objects, (user + system_time) / 60, elapsed / 60, cores }'
