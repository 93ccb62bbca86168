#!/usr/bin/env bash
# Compares ONNX Runtime with the reference in double, on the random graphs that differential_test compares Vellum with: what
# both agree with is right. Needs what `./setup.sh tests` installs. Exits with 1 if a graph differs.
#
#   tests/differential/onnxruntime.sh ENGINE_FILES FIRST COUNT     the program, and the seeds FIRST to FIRST + COUNT - 1
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[[ $# == 3 ]] || { sed -n '5p' "$0" >&2; exit 2; }
program=$1 first=$2 count=$3
batch=500
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

failed=0
for ((done = 0; done < count; done += batch)); do
  graphs=$((count - done < batch ? count - done : batch))
  "$program" write "$scratch/graphs" $((first + done)) "$graphs"
  node "$here/../oracles/onnxruntime_folders.mjs" "$scratch/graphs"
  "$program" compare "$scratch/graphs" $((first + done)) "$graphs" || failed=1
  rm -r "$scratch/graphs"
done
exit $failed
