#!/usr/bin/env bash
# Measures the models of tests/models.json on lavapipe and writes the table between the markers of docs/benchmarks/models.md anew:
#   tests/bench/model_table.sh BUILD_FOLDER [RUNS]
# Wants what `setup.sh tests` fetches, the target `compare`, and an idle machine.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${1:?usage: model_table.sh BUILD_FOLDER [RUNS]}
icds=(/usr/share/vulkan/icd.d/lvp_icd*.json)
VELLUM_TEST_DATA=$("$root/setup.sh" where)
export VELLUM_TEST_DATA VK_ICD_FILENAMES=${icds[0]}
page=$root/docs/benchmarks/models.md
table=$(mktemp)
trap 'rm -f "$table" "$table.md"' EXIT
"$build/tests/e2e/compare" "${2:-10}" >"$table"
awk -v table="$table" '
  /<!-- models begin -->/ { print; while ((getline line <table) > 0) print line; inside = 1 }
  /<!-- models end -->/ { inside = 0 }
  !inside { print }
  inside && /<!-- models begin -->/ { next }' "$page" >"$table.md"
cat "$table.md" >"$page"
