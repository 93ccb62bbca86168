#!/usr/bin/env bash
# Runs what takes too long for each commit, one step after the other, and prints a summary. Exits with 1 if anything failed.
#
#   tests/nightly.sh [--hours N] [STEP...]     default: 4 hours for fuzzing, random graphs and the soak test together, all steps
#
# Steps:
#   tests         tests/run.sh: what each commit runs
#   drivers       what each commit leaves out (label nightly): host logic, samples and whole models on SwiftShader and under the
#                 limits of Android Baseline 2022, and kernels and whole models with lavapipe's optimisation and eight lanes
#   full          VELLUM_TEST_FULL: the whole product of kernel sweeps, every candidate on every device, the largest layers,
#                 tilings and pictures, 300 frames of the live sample
#   worst         the kernels on the worst device with subgroups of 16 to 128, and random graphs and whole networks there
#   bench         builds the benchmarks, measures kernels against the device's ceilings, and checks their results
#   asan          AddressSanitizer and UndefinedBehaviorSanitizer: the tests without a device, those labelled quick on lavapipe,
#                 hostile files, and models of the fuzz targets on lavapipe
#   tsan          ThreadSanitizer: the tests of threads on lavapipe
#   hostile       all hostile files, with every command
#   faults        every call of every Vulkan function fails once, and every allocation
#   fuzz          the fuzz targets
#   differential  random graphs against the reference in double, with seeds that no run had before; ONNX Runtime against it too
#   soak          sessions and runs for as long as that
#   protocols     with DAT3M_HOME, a folder of Dartagnan: protocols between workgroups in Vulkan's memory model (memory_model/)
# The log of each step is build/nightly/STEP.log; build/nightly/summary has a row for docs/trust.md for each.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

hours=4
if [[ ${1-} == --hours ]]; then
  hours=${2:?--hours N}
  shift 2
fi
[[ $hours =~ ^[0-9]+$ && $hours -gt 0 ]] || { sed -n '2,26s/^# \{0,1\}//p' "$0" >&2; exit 2; }
share=$((hours * 3600 / 3)) # seconds for each of the three steps without an end of their own
tests=${BUILD_DIR:-$root/build/tests}
seed=$(($(date +%s) / 60 * 100)) # graphs of one run have numbers below the next minute's
graphs=$((share / 4)) drawn=$((share * 10)) # those of drawn options share pipelines
# The programs that ask for VELLUM_TEST_FULL, without those of the step faults.
full='^(kernels|kernel_check|integer_memory_test|e2e_models|e2e_layers|tiles_on_device|large_pictures_test|differential_test|live|gpu_shaders)([.]|$)'

run_tests() { tests/run.sh; }
run_drivers() { tests/run.sh nightly; }
run_full() { VELLUM_TEST_FULL=1 ctest --test-dir "$tests" -R "$full" --output-on-failure -j2; }
run_worst() {
  local size failed=0
  for size in 16 32 64 128; do
    VELLUM_TEST_WORST_DEVICE=all,subgroups_$size ctest --test-dir "$tests" -R '^kernels[.]lavapipe' --output-on-failure -j2 || failed=1
  done
  VELLUM_TEST_WORST_DEVICE=all VELLUM_DIFFERENTIAL_DRAWN=$seed:$((drawn / 10)) \
    ctest --test-dir "$tests" -R 'differential_test.lavapipe' --output-on-failure || failed=1
  VELLUM_TEST_WORST_DEVICE=all ctest --test-dir "$tests" -R '^e2e_models[.]lavapipe' --output-on-failure -j2 || failed=1
  local lavapipe networks=(mobilenet_v2 resnet50 squeezenet1_1 efficientnet_b0 vit_b_16 yolov4_tiny)
  lavapipe=$(sed -n 's/^VELLUM_TEST_LAVAPIPE_ICD:.*=//p' "$tests/CMakeCache.txt")
  # Pictures of 96 x 96: the worst device takes hours for the largest of these networks in their own sizes.
  tests/backbones.sh --tool "$tests/tools/vellum/vellum" --size 96 --runs 0 "${networks[@]}" || failed=1
  networks=("${networks[@]/#/$(./setup.sh where)/backbones/size_96_batch_1_opset_17/}")
  VELLUM_TEST_WORST_DEVICE=all VK_DRIVER_FILES=$lavapipe VK_ICD_FILENAMES=$lavapipe \
    "$tests/tests/worst_device/worst_networks" "${networks[@]/%//model.onnx}" || failed=1
  return $failed
}
run_bench() { tests/run.sh bench; }
run_asan() {
  cmake --preset asan -DCMAKE_UNITY_BUILD=ON && cmake --build build/asan --target quick_tests &&
    LSAN_OPTIONS=suppressions=$root/tests/sanitizers/leak.supp ctest --test-dir build/asan --output-on-failure -j2 \
      -L '^(cpu|quick|fuzz)$'
}
run_tsan() { cmake --preset tsan -DCMAKE_UNITY_BUILD=ON && cmake --build --preset tsan && ctest --preset tsan; }
run_hostile() { tests/hostile/run_hostile.py "$tests/tools/vellum/vellum"; }
run_faults() {
  VELLUM_TEST_FULL=1 ctest --test-dir "$tests" -R '^(faults_test|allocations|file_faults)[.]' --output-on-failure
}
run_fuzz() { tests/fuzz/run.sh $((share / 60 / 6 > 0 ? share / 60 / 6 : 1)); }
run_differential() {
  mkdir -p build/nightly/graphs
  VELLUM_DIFFERENTIAL=$seed:$graphs VELLUM_DIFFERENTIAL_DRAWN=$seed:$drawn VELLUM_DIFFERENTIAL_KEEP=$root/build/nightly/graphs \
    GALLIVM_PERF=nopt LP_NATIVE_VECTOR_WIDTH=128 \
    ctest --test-dir "$tests" -R 'differential_test.lavapipe' --output-on-failure &&
    tests/differential/onnxruntime.sh "$tests/tests/differential/engine_files" "$seed" "$graphs"
}
run_protocols() { tests/memory_model/check_protocols.py "$DAT3M_HOME"; }
run_soak() { VELLUM_SOAK_SECONDS=$share ctest --test-dir "$tests" -R '^soak_test[.]lavapipe' --output-on-failure; }

steps=(tests drivers full worst bench asan tsan hostile faults fuzz differential soak)
if [[ ${DAT3M_HOME-} ]]; then steps+=(protocols); fi
wanted=("$@")
((${#wanted[@]})) || wanted=("${steps[@]}")
for step in "${wanted[@]}"; do
  [[ " ${steps[*]} " == *" $step "* ]] || { echo "nightly.sh: there is no step '$step'; there are ${steps[*]}" >&2; exit 2; }
done

# The limits of the tests are for what a commit runs of them. A build keeps what it was configured with.
patience() {
  export VELLUM_TEST_PATIENCE=$1
  [[ ! -f $tests/CMakeCache.txt ]] || cmake "$tests" >/dev/null
}
patience 100
trap 'patience 1' EXIT

# What a step did: the tests of all its runs of ctest, or the last line that it printed.
count_of() {
  local log=build/nightly/$1.log
  awk '/tests passed, .* tests? failed out of/ { failed += $4; total += $NF }
       END { if (!total) exit 1; printf "%d of %d tests passed", total - failed, total }' "$log" ||
    tail -n 1 "$log" | tr '|' ' ' | cut -c 1-120
}

mkdir -p build/nightly
failed=0
summary=()
commit=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
for step in "${wanted[@]}"; do
  begin=$SECONDS
  if "run_$step" >"build/nightly/$step.log" 2>&1; then result=passed; else result=FAILED failed=1; fi
  line=$(printf '| %s | `tests/nightly.sh %s` | %s, %d s | %s | %s, %s |' "$step" "$step" "$(count_of "$step")" \
    $((SECONDS - begin)) "$result" "$(date +%F)" "$commit")
  summary+=("$line")
  echo "$line"
done
printf '%s\n' "${summary[@]}" >build/nightly/summary
exit $failed
