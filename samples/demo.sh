#!/usr/bin/env bash
# Installs what is missing, builds Release, and finds the face in a photo. Arguments go to the sample (see --help).
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${BUILD_DIR:-$root/build/release}

"$root/setup.sh" build demo
cache=$("$root/setup.sh" where)

if [[ ! -f $build/build.ninja ]]; then
  echo "demo: configuring the build in $build"
  # A unity build parses the headers that the files of a folder share once.
  options=(-DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DVELLUM_BUILD_TESTS=OFF -DVELLUM_BUILD_SAMPLES=ON)
  if command -v ccache >/dev/null; then
    options+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
  cmake -S "$root" -B "$build" -G Ninja "${options[@]}" >/dev/null
fi
echo "demo: building the library and the sample face_detection, as far as anything has changed"
# One line that ninja updates on a terminal, a line per step elsewhere.
NINJA_STATUS="demo: step %f of %t (%p, %es) " cmake --build "$build" --target face_detection

exec "$build/samples/face_detection/face_detection" \
  "$cache/models/face_detection_front_128x128_barracuda.onnx" "$cache/photos/astronaut.png" \
  --output "$build/faces.png" --cache "$cache/pipelines" --storage image2d --reuse-table "$@"
