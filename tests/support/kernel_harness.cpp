#include "support/kernel_harness.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <sstream>
#include <string>

#include "exec/executor.hpp"
#include "passes/passes.hpp"
#include "support/environment.hpp"
#include "support/gpu_test.hpp"
#include "vellum/error.hpp"

namespace vellum::test {
namespace {

struct Tolerance {
  double relative, absolute;
};

bool close(double got, double want, Tolerance tolerance) {
  if (std::isnan(want)) return std::isnan(got);
  if (std::isinf(want)) return got == want;
  return std::abs(got - want) <=
         std::max(tolerance.absolute, tolerance.relative * std::max(1.0, std::abs(want)));
}

void compare(const HostTensor& got, const HostTensor& want, Tolerance tolerance, const std::string& what) {
  ASSERT_EQ(got.shape(), want.shape()) << what;
  const std::vector<float> a = got.to_floats(), b = want.to_floats();
  size_t wrong = 0, first = 0;
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (close(a[i], b[i], tolerance)) continue;
    if (wrong++ == 0) first = i;
    worst = std::max(worst, static_cast<double>(std::abs(a[i] - b[i])));
  }
  EXPECT_EQ(wrong, 0u) << what << ": " << wrong << " of " << a.size() << " elements differ, the first at "
                       << first << ": got " << a[first] << ", want " << b[first] << "; largest difference "
                       << worst;
}

std::string describe_run(const OperatorCase& test, const LoweringOptions& options) {
  static const char* const storages[] = {"automatic", "image2d", "image3d", "buffer"};
  std::string text = test.type + " {" + to_string(test.attributes) + "}";
  for (const auto& input : test.inputs) text += " " + (input ? to_string(input->shape()) : std::string("-"));
  return text + " on " + storages[static_cast<int>(options.storage)] +
         (options.precision == Precision::fp16 ? " fp16" : " fp32") +
         (options.arithmetic == Arithmetic::fp16 ? " multiplied as halves" : "") +
         (options.fold > 0 ? " folded" : "") + (options.inputs_to_channels4 ? " channels4" : " linear");
}

// With fewer some kernels do not run small cases either (VELLUM_TEST_LIMITS=short_loops).
constexpr uint32_t kLeastIterations = 128;

bool multiplies_halves(const Program& program) {
  const auto of_halves = [](const auto& define) { return define.first == "HALF_PRODUCTS"; };
  return std::any_of(program.tasks.begin(), program.tasks.end(), [&](const Task& task) {
    return task.dispatch &&
           std::any_of(task.dispatch->defines.begin(), task.dispatch->defines.end(), of_halves);
  });
}

bool folds(const Program& program) {
  return std::ranges::any_of(program.tensors,
                             [](const VirtualTensor& tensor) { return tensor.desc.fold > 0; });
}

Tolerance tolerance_of(const OperatorCase& test, const LoweringOptions& options) {
  const OperatorSweep& sweep = test.sweep;
  if (options.precision == Precision::fp32) return {sweep.fp32_tolerance, sweep.fp32_absolute};
  const bool halves = options.arithmetic == Arithmetic::fp16;
  return {halves ? std::max(sweep.fp16_tolerance, sweep.halves_tolerance) : sweep.fp16_tolerance,
          sweep.fp16_absolute};
}

// Everything of the program that a result depends on, apart from the inputs and the constants of its graph.
std::string computation(const Program& program) {
  std::ostringstream text;
  text << to_text(program);
  for (const VirtualTensor& tensor : program.tensors) text << tensor.origin.packing.key() << '\n';
  for (const Task& task : program.tasks) {
    if (!task.dispatch) continue;
    for (const auto& [macro, value] : task.dispatch->defines) text << macro << '=' << value << ' ';
    text << task.dispatch->subgroup_size << '\n';
    const std::span<const std::byte> bytes = task.dispatch->push_constants.bytes();
    text.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  return text.str();
}

// Runs one case in several ways; two ways that are the same dispatches run once.
class Runs {
 public:
  explicit Runs(const OperatorCase& test) : test_(test) {}

  // Calls sweep(caps) for each device in turn.
  void for_each_device(const DeviceCaps& caps, const std::function<void(const DeviceCaps&)>& sweep) {
    for (const DeviceCaps& in_turn : caps_in_turn(caps)) {
      sweep(in_turn);
      first_device_ = false;
    }
  }

  void run(const LoweringOptions& options, const DeviceCaps& caps) {
    const bool fp16 = options.precision == Precision::fp16;
    const std::string what = describe_run(test_, options) + (caps.reads_buffers_as_texels ? " texels" : "") +
                             (caps.type == DeviceType::cpu ? "" : " as for a GPU");
    SCOPED_TRACE(what);
    const Reference& reference = references_.try_emplace(fp16, test_, fp16).first->second;
    Graph lowered = reference.graph;
    decompose(lowered);
    Program program = lower(lowered, caps, options);
    if (options.arithmetic == Arithmetic::fp16 && !multiplies_halves(program)) return;
    if (options.fold > 0 && !folds(program)) return;
    const bool runs_loops = caps.max_loop_iterations >= kLeastIterations;
    if (!test_.sweep.host_allowed && caps.max_storage_buffers_per_stage >= test_.sweep.buffers &&
        runs_loops) {
      EXPECT_TRUE(program.warnings.empty()) << program.warnings.front();
    }
    const std::string text = computation(program);
    if (left_out(text) || !ran_.insert(text).second) return;
    Executor executor(test_context(), compile_program(test_context(), std::move(program)));
    for (size_t i = 0; i < reference.inputs.size(); ++i) executor.set_input(i, reference.inputs[i]);
    executor.run();
    const Tolerance tolerance = tolerance_of(test_, options);
    for (size_t i = 0; i < reference.outputs.size(); ++i)
      compare(executor.output(i), reference.outputs[i], tolerance, what);
  }

 private:
  struct Reference {
    Reference(const OperatorCase& test, bool fp16) : graph(single_node_graph(test, fp16)) {
      for (size_t i = 0; i < test.inputs.size(); ++i)
        if (test.inputs[i] && !test.constants.contains(i))
          inputs.push_back(fp16 ? rounded_to_half(*test.inputs[i]) : *test.inputs[i]);
      outputs = evaluate(graph, inputs);
    }
    Graph graph;
    std::vector<HostTensor> inputs, outputs;
  };

  // SwiftShader takes several times as long as lavapipe to compile, and kernels for another device are mostly
  // other tiles of those that ran: there a case runs in a third or half of the ways, which are others for
  // each case, and in one at least.
  bool left_out(const std::string& text) const {
    const size_t one_in = in_full() ? 1 : on_swiftshader() ? 3 : first_device_ ? 1 : 2;
    return !ran_.empty() && std::hash<std::string>()(text) % one_in != 0;
  }

  const OperatorCase& test_;
  std::map<bool, Reference> references_;  // by whether it is rounded to fp16
  std::set<std::string> ran_;             // computation() of each program
  bool first_device_ = true;
};

// Whether the run is repeated with the other kind of buffer reads (storage or texel buffers). SwiftShader
// takes minutes and gigabytes to compile a tile of products whose factors are components of texels.
bool repeats_with_other_reads(const OperatorCase& test, const LoweringOptions& options,
                              const DeviceCaps& caps) {
  if (options.storage != StorageChoice::buffer) return false;
  const bool product = test.type == "MatMul" || test.type == "Gemm";
  return caps.reads_buffers_as_texels || (options.inputs_to_channels4 && !product);
}

// Buffers are read as the device prefers, and with the other kind of reads if repeats_with_other_reads().
void sweep(Runs& runs, const OperatorCase& test, const DeviceCaps& caps) {
  DeviceCaps other_reads = caps;
  other_reads.reads_buffers_as_texels = !caps.reads_buffers_as_texels;
  DeviceCaps gpu = caps;
  gpu.type = DeviceType::discrete_gpu;
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
          runs.run(options, caps);
          if (repeats_with_other_reads(test, options, caps)) runs.run(options, other_reads);
          if (test.sweep.as_for_gpu && caps.type != gpu.type) runs.run(options, gpu);
          options.arithmetic = Arithmetic::fp16;
          if (once && halves) runs.run(options, caps);
        }
      }
}

std::vector<std::string> run_candidates(Runs& runs, const OperatorCase& test, const CandidateOptions& options,
                                        const DeviceCaps& caps) {
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
  for (const Choice& choice : choices)
    for (const std::string& candidate : candidate_names(choice)) {
      if (!candidate.starts_with(options.only)) continue;
      SCOPED_TRACE(candidate);
      TuningTable table;
      table.operators[choice.signature] = {{choice.candidates.front().text(), 2.0}};
      table.operators[choice.signature][candidate] = 1.0;
      lowering.tuning = &table;
      runs.run(lowering, caps);
      candidates.push_back(candidate);
    }
  return candidates;
}

}  // namespace

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
  Runs runs(test);
  runs.for_each_device(caps, [&](const DeviceCaps& in_turn) { sweep(runs, test, in_turn); });
}

std::vector<std::string> candidate_names(const Choice& choice) {
  std::vector<std::string> names;
  for (const KernelName& name : choice.candidates) names.push_back(name.text());
  return names;
}

std::vector<std::string> check_candidates(const OperatorCase& test, const CandidateOptions& options) {
  const DeviceCaps caps = options.caps.value_or(test_context()->caps());
  Runs runs(test);
  std::vector<std::string> candidates;
  runs.for_each_device(caps, [&](const DeviceCaps& in_turn) {
    std::vector<std::string> names = run_candidates(runs, test, options, in_turn);
    if (candidates.empty()) candidates = std::move(names);
  });
  return candidates;
}

}  // namespace vellum::test
