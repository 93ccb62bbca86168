#!/usr/bin/env bash
# aarch64 Linux: installs a cross compiler and qemu-user and unpacks Debian's arm64 libraries (setup.sh arm64), builds with
# them, runs under qemu-user the face sample and the quick tier of the tests on arm64's lavapipe, and records the result.
#   tests/platforms/arm64.sh [BUILD]     BUILD: folder of the build, build/arm64 if left out
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(realpath -m "${1:-$root/build/arm64}")

"$root/setup.sh" arm64 tests
cache=$("$root/setup.sh" where)
sysroot=$cache/arm64/sysroot

options=("-DVELLUM_TEST_DATA=$cache")
if command -v ccache >/dev/null; then
  options+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
cd "$root" # where the preset is
cmake --preset arm64 -B "$build" "${options[@]}"
cmake --build "$build" --target quick_tests face_detection

started=$SECONDS
status=0
ctest --test-dir "$build" -L '^(cpu|quick)$' -j2 --output-on-failure \
  --output-junit "$build/arm64.xml" || status=$?
quick_seconds=$((SECONDS - started))

emulated() {
  env "VK_ICD_FILENAMES=$(echo "$sysroot"/usr/share/vulkan/icd.d/lvp_icd*.json)" VK_LOADER_LAYERS_DISABLE='~implicit~' \
    "VELLUM_TEST_DATA=$cache" "VELLUM_TEST_SOURCE=$root/tests" VELLUM_TEST_DRIVER=lavapipe \
    qemu-aarch64 -cpu neoverse-n1 -L "$sysroot" "$@"
}
score=$(emulated "$build/samples/face_detection/face_detection" "$cache/models/face_detection_front_128x128_barracuda.onnx" \
  "$cache/photos/astronaut.png" --output "$build/faces.png" | grep -oE 'score [0-9.]+')
printf '%s\n' "$score"
[[ $score == 'score 0.9224' ]] || status=1

qemu=$(qemu-aarch64 --version | sed -nE '1s/.*version ([0-9.]+).*/\1/p')
mesa=$(zcat "$sysroot/usr/share/doc/mesa-vulkan-drivers/changelog.Debian.gz" | sed -nE '1s/.*\(([0-9.]+).*/\1/p')
"$root/tests/platforms/record.py" arm64 --platform "Debian $(. /etc/os-release && echo "$VERSION_ID"), aarch64" \
  --compiler "GCC $(aarch64-linux-gnu-g++ -dumpfullversion)" --under "qemu-user $qemu, lavapipe of Mesa $mesa" \
  --command tests/platforms/arm64.sh --junit "$build/arm64.xml" \
  --note "the quick tier in $quick_seconds s; face sample: $score"
exit "$status"
