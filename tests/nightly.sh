#!/usr/bin/env bash
# Runs what takes too long for each run of the tests, one after the other, and prints a summary. Exits with 1 if anything failed.
#
#   tests/nightly.sh [--hours N] [STEP...]     default: 4 hours for fuzzing, random graphs and the soak test together, all steps
#
# Steps:
#   tests         tests/run.sh: all tests on every driver
#   asan          AddressSanitizer and UndefinedBehaviorSanitizer: the tests without a device, and those labelled quick on lavapipe
#   tsan          ThreadSanitizer: the tests of threads on lavapipe
#   hostile       all hostile files, with every command
#   faults        every call of every Vulkan function fails once, and every allocation
#   fuzz          the fuzz targets
#   differential  random graphs against the reference in double, with seeds that no run had before; ONNX Runtime against it too
#   soak          sessions and runs for as long as that
# The log of each step is build/nightly/STEP.log.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

hours=4
if [[ ${1-} == --hours ]]; then
  hours=${2:?--hours N}
  shift 2
fi
[[ $hours =~ ^[0-9]+$ && $hours -gt 0 ]] || { sed -n '2,19s/^# \{0,1\}//p' "$0" >&2; exit 2; }
share=$((hours * 3600 / 3)) # seconds for each of the three steps without an end of their own
tests=${BUILD_DIR:-$root/build/tests}
seed=$(($(date +%s) / 60 * 100)) # graphs of one run have numbers below the next minute's
graphs=$((share / 4)) drawn=$((share * 10)) # those of drawn options share pipelines

run_tests() { tests/run.sh; }
run_asan() {
  cmake --preset asan -DCMAKE_UNITY_BUILD=ON && cmake --build build/asan --target quick_tests &&
    LSAN_OPTIONS=suppressions=$root/tests/sanitizers/leak.supp ctest --test-dir build/asan --output-on-failure -j2 \
      -L '^(cpu|quick)$' --timeout 3600
}
run_tsan() { cmake --preset tsan -DCMAKE_UNITY_BUILD=ON && cmake --build --preset tsan && ctest --preset tsan --timeout 3600; }
run_hostile() { tests/hostile/run_hostile.py "$tests/tools/vellum/vellum"; }
run_faults() {
  VELLUM_TEST_FULL=1 ctest --test-dir "$tests" -R '^(faults_test|allocations|file_faults)[.]' --output-on-failure --timeout 36000
}
run_fuzz() { tests/fuzz/run.sh $((share / 60 / 6 > 0 ? share / 60 / 6 : 1)); }
run_differential() {
  mkdir -p build/nightly/graphs
  VELLUM_DIFFERENTIAL=$seed:$graphs VELLUM_DIFFERENTIAL_DRAWN=$seed:$drawn VELLUM_DIFFERENTIAL_KEEP=$root/build/nightly/graphs \
    GALLIVM_PERF=nopt LP_NATIVE_VECTOR_WIDTH=128 \
    ctest --test-dir "$tests" -R 'differential_test.lavapipe' --output-on-failure --timeout 100000 &&
    tests/differential/onnxruntime.sh "$tests/tests/differential/engine_files" "$seed" "$graphs"
}
run_soak() { VELLUM_SOAK_SECONDS=$share ctest --test-dir "$tests" -R '^soak_test[.]lavapipe' --output-on-failure --timeout 100000; }

steps=(tests asan tsan hostile faults fuzz differential soak)
wanted=("$@")
((${#wanted[@]})) || wanted=("${steps[@]}")
for step in "${wanted[@]}"; do
  [[ " ${steps[*]} " == *" $step "* ]] || { echo "nightly.sh: there is no step '$step'; there are ${steps[*]}" >&2; exit 2; }
done

mkdir -p build/nightly
failed=0
summary=()
for step in "${wanted[@]}"; do
  begin=$SECONDS
  if "run_$step" >"build/nightly/$step.log" 2>&1; then result=passed; else result=FAILED failed=1; fi
  line=$(printf '%-13s %-7s %6d s  %s' "$step" "$result" $((SECONDS - begin)) "build/nightly/$step.log")
  summary+=("$line")
  echo "$line"
done
printf '\n%s\n' "${summary[@]}" >build/nightly/summary
exit $failed
