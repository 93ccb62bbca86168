#include "support/kernel_harness.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "passes/passes.hpp"
#include "support/covering.hpp"
#include "support/environment.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_runs.hpp"
#include "vellum/error.hpp"

namespace vellum::test {
namespace {

// Whether the run is repeated with the other kind of buffer reads (storage or texel buffers). SwiftShader
// takes minutes and gigabytes to compile a tile of products whose factors are components of texels.
bool repeats_with_other_reads(const OperatorCase& test, const LoweringOptions& options,
                              const DeviceCaps& caps) {
  if (options.storage != StorageChoice::buffer) return false;
  const bool product = test.type == "MatMul" || test.type == "Gemm";
  return caps.reads_buffers_as_texels || (options.inputs_to_channels4 && !product);
}

// What a run changes besides storage, layout, precision and fold: one of these at a time.
enum class Variant : size_t { none, other_reads, for_gpu, fp16_arithmetic };

// Appends the configurations of the sweep on one device, whose number in turn is `device`. Buffers are read
// as the device prefers, and with the other kind of reads if repeats_with_other_reads().
void append_sweep(std::vector<Configuration>& configurations, const OperatorCase& test,
                  const DeviceCaps& caps, size_t device) {
  DeviceCaps other_reads = caps;
  other_reads.reads_buffers_as_texels = !caps.reads_buffers_as_texels;
  DeviceCaps gpu = caps;
  gpu.type = DeviceType::discrete_gpu;
  gpu.exact_division = false;
  for (const StorageChoice storage : {StorageChoice::image2d, StorageChoice::image3d, StorageChoice::buffer})
    for (const Precision precision : {Precision::fp32, Precision::fp16})
      for (const bool channels4 : {true, false}) {
        if ((precision == Precision::fp16 && !test.sweep.fp16) ||
            !(channels4 ? test.sweep.channels4_inputs : test.sweep.linear_inputs))
          continue;
        const bool once = storage != StorageChoice::image3d && (channels4 || !test.sweep.channels4_inputs);
        const bool halves =
            test.sweep.arithmetic_fp16 && precision == Precision::fp16 && caps.fp16_arithmetic;
        const uint32_t folded = precision == Precision::fp32 ? 2 : 4;  // columns
        for (const uint32_t fold : {0u, folded}) {
          if (fold > 0 && !(once && storage == StorageChoice::image2d)) continue;
          LoweringOptions options{.precision = precision,
                                  .storage = storage,
                                  .inputs_to_channels4 = channels4,
                                  .winograd = test.sweep.winograd,
                                  .fold = fold};
          const auto append = [&](const DeviceCaps& on_device, Variant variant) {
            configurations.push_back({options,
                                      on_device,
                                      {static_cast<size_t>(storage), static_cast<size_t>(precision),
                                       channels4, fold > 0, static_cast<size_t>(variant), device}});
          };
          append(caps, Variant::none);
          if (repeats_with_other_reads(test, options, caps)) append(other_reads, Variant::other_reads);
          if (test.sweep.as_for_gpu && caps.type != gpu.type) append(gpu, Variant::for_gpu);
          options.arithmetic = Arithmetic::fp16;
          if (once && halves) append(caps, Variant::fp16_arithmetic);
        }
      }
}

// How many cases of this kind the current test had before; on SwiftShader, the current suite.
size_t cases_before(const std::string& kind) {
  static std::map<std::string, size_t> counts;
  const ::testing::TestInfo* const test = ::testing::UnitTest::GetInstance()->current_test_info();
  std::string key = std::string(test->test_suite_name()) + " " + kind;
  if (!on_swiftshader()) key += std::string(" ") + test->name();
  return counts[key]++;
}

// Of an operator's cases on SwiftShader, which takes several times as long as lavapipe to compile, one run is
// left to each commit. Suites take different runs.
size_t only_run(size_t runs) {
  const ::testing::TestInfo* const test = ::testing::UnitTest::GetInstance()->current_test_info();
  return std::hash<std::string>()(std::string(test->test_suite_name()) + test->name()) % runs;
}

// What a run of that configuration covers: values of parameters for a suite's cases of the operator, pairs of
// storage, precision and layout, and pairs of these with the case, which stands for shapes and attributes.
void append_covered(std::set<std::string>& covered, const Combination& values, const std::string& type,
                    size_t number_of_case) {
  constexpr size_t kPaired = 3;  // storage, precision, layout
  const ::testing::TestInfo* const test = ::testing::UnitTest::GetInstance()->current_test_info();
  const std::string of_operator = std::string(test->test_suite_name()) + " " + type + " ",
                    of_case = of_operator + test->name() + " " + std::to_string(number_of_case) + " ";
  const auto value = [&](size_t i) { return std::to_string(i) + "=" + std::to_string(values[i]) + " "; };
  for (size_t a = 0; a < values.size(); ++a) {
    covered.insert(of_operator + value(a));
    if (a >= kPaired) continue;
    covered.insert(of_case + value(a));
    for (size_t b = a + 1; b < kPaired; ++b) covered.insert(of_operator + value(a) + value(b));
  }
}

// Runs the distinct computations that cover the configurations. With VELLUM_TEST_FULL these are all.
// Otherwise the cases of an operator in a suite cover together each variant, device and fold, and all pairs
// of storage, precision, layout and case. On SwiftShader only_run() of the first case is.
void run_covering(KernelRuns& runs, const std::vector<Configuration>& configurations, const std::string& type,
                  size_t number_of_case) {
  if (on_swiftshader() && number_of_case > 0 && !in_full()) return;
  std::vector<const Configuration*> distinct;
  std::vector<CandidateRun> candidates;
  std::map<std::string, size_t> indices;  // by computation
  for (const Configuration& configuration : configurations) {
    const std::optional<Computation> found = runs.computation_of(configuration);
    if (!found) continue;
    const auto [place, is_new] = indices.try_emplace(found->text, distinct.size());
    if (is_new) {
      distinct.push_back(&configuration);
      candidates.push_back({{}, found->kernels});
    }
    append_covered(candidates[place->second].covers, configuration.values, type, number_of_case);
  }
  if (distinct.empty()) return;
  if (in_full()) {
    for (const Configuration* configuration : distinct) runs.run(*configuration);
    return;
  }
  if (on_swiftshader()) {
    runs.run(*distinct[only_run(distinct.size())]);
    return;
  }
  static CoveringRuns covering;
  for (const size_t i : covering.choose(candidates)) runs.run(*distinct[i]);
}

// Of the runs of a choice's candidates, those on devices after the first are mostly other tiles of kernels
// that ran: a part runs, which is another for each case, and one run at least.
size_t one_in(size_t device) { return in_full() || device == 0 ? 1 : 4; }

// Whether a candidate runs in a test's case of that number: an eighth of them in each case, and others in the
// next.
bool runs_in_case(const std::string& candidate, size_t number_of_case) {
  return in_full() || (std::hash<std::string>()(candidate) + number_of_case) % 8 == 0;
}

std::vector<std::string> run_candidates(KernelRuns& runs, const OperatorCase& test,
                                        const CandidateOptions& options, const DeviceCaps& caps,
                                        size_t device, size_t number_of_case) {
  LoweringOptions lowering{.precision = options.precision,
                           .storage = options.storage,
                           .inputs_to_channels4 = test.sweep.channels4_inputs,
                           .winograd = test.sweep.winograd,
                           .fold = options.fold};
  Graph graph = single_node_graph(test);
  decompose(graph);
  std::vector<Choice> choices;
  lowering.choices = &choices;
  lower(graph, caps, lowering);
  lowering.choices = nullptr;
  std::vector<std::string> candidates;
  for (const Choice& choice : choices) {
    bool ran = false;
    const auto run = [&](const std::string& candidate) {
      SCOPED_TRACE(candidate);
      TuningTable table;
      table.operators[choice.signature] = {{choice.candidates.front().text(), 2.0}};
      table.operators[choice.signature][candidate] = 1.0;
      lowering.tuning = &table;
      runs.run({lowering, caps, {}}, one_in(device));
      ran = true;
    };
    const size_t before = candidates.size();
    for (const std::string& candidate : candidate_names(choice)) {
      if (!candidate.starts_with(options.only)) continue;
      if (!on_swiftshader() && runs_in_case(candidate, number_of_case)) run(candidate);
      candidates.push_back(candidate);
    }
    const size_t found = candidates.size() - before;
    if (!ran && found > 0 && (!on_swiftshader() || number_of_case == 0))
      run(candidates[before + only_run(found)]);
  }
  return candidates;
}

}  // namespace

double largest_difference(const HostTensor& got, const HostTensor& want) {
  double largest = 0.0;
  for (size_t i = 0; i < got.as<float>().size(); ++i) {
    const double expected = want.as<float>()[i];
    largest = std::max(largest, std::abs(got.as<float>()[i] - expected) / std::max(1.0, std::abs(expected)));
  }
  return largest;
}

HostTensor random_tensor(Shape shape, uint32_t seed, float low, float high) {
  HostTensor tensor(DType::f32, std::move(shape));
  uint64_t state = seed * 0x9E3779B97F4A7C15ull + 1;
  for (float& value : tensor.mutable_as<float>()) {  // Knuth's MMIX linear congruential generator
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    value = low + (high - low) * static_cast<float>(state >> 40) * 0x1p-24f;
  }
  return tensor;
}

void check_operator(const OperatorCase& test) { check_operator(test, test_context()->caps()); }

void check_operator(const OperatorCase& test, const DeviceCaps& caps) {
  std::vector<Configuration> configurations;
  size_t device = 0;
  for (const DeviceCaps& in_turn : caps_to_test(caps)) append_sweep(configurations, test, in_turn, device++);
  KernelRuns runs(test);
  run_covering(runs, configurations, test.type, cases_before(test.type));
}

std::vector<std::string> candidate_names(const Choice& choice) {
  std::vector<std::string> names;
  for (const KernelName& name : choice.candidates) names.push_back(name.text());
  return names;
}

std::vector<std::string> check_candidates(const OperatorCase& test, const CandidateOptions& options) {
  const DeviceCaps caps = options.caps.value_or(test_context()->caps());
  KernelRuns runs(test);
  std::vector<std::string> candidates;
  size_t device = 0;
  const size_t number_of_case = cases_before("candidates of " + test.type);
  for (const DeviceCaps& in_turn : caps_to_test(caps)) {
    std::vector<std::string> names = run_candidates(runs, test, options, in_turn, device++, number_of_case);
    if (candidates.empty()) candidates = std::move(names);
  }
  return candidates;
}

}  // namespace vellum::test
