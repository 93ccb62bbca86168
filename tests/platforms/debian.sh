#!/usr/bin/env bash
# Records the last whole run of the tests on this machine, of which tests/run.sh leaves ctest's report (docs/platforms.md).
#   tests/platforms/debian.sh [BUILD]     BUILD: folder of the build, build/tests if left out
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(realpath -m "${1:-$root/build/tests}")
report=$build/results.xml

die() {
  printf 'debian.sh: error: %s\n' "$*" >&2
  exit 1
}
[[ -f $report ]] || die "$report is not there; run tests/run.sh"
tests=$(ctest --test-dir "$build" -N -LE '^nightly$' | sed -n 's/^Total Tests: //p')
ran=$(grep -c '<testcase ' "$report")
[[ $ran == "$tests" ]] || die "$report has $ran of $tests tests; run tests/run.sh without arguments"

# shellcheck disable=SC2016
version() { dpkg-query --show --showformat='${source:Upstream-Version}' "$1"; }
# shellcheck disable=SC1091
"$root/tests/platforms/record.py" debian --platform "Debian $(. /etc/os-release && echo "$VERSION_ID"), $(uname -m)" \
  --compiler "GCC $(g++ -dumpfullversion)" \
  --under "lavapipe of Mesa $(version mesa-vulkan-drivers), SwiftShader" --command tests/platforms/debian.sh \
  --junit "$report" --note "all of tests/run.sh, with validation layers $(version vulkan-validationlayers)"
