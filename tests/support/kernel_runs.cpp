#include "support/kernel_runs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <functional>
#include <span>
#include <sstream>

#include "exec/executor.hpp"
#include "passes/passes.hpp"
#include "support/gpu_test.hpp"
#include "worst_device/worst_device.hpp"

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
  const double tolerance =
      halves ? std::max(sweep.fp16_tolerance, sweep.halves_tolerance) : sweep.fp16_tolerance;
  // Where conversions to halves cut bits off, each error is up to twice as large.
  return {worst_device_allowances().truncating_halves ? 2 * tolerance : tolerance, sweep.fp16_absolute};
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

// Computation::kernels of the program.
std::set<std::string> kernels_of(const Program& program) {
  std::set<std::string> kernels;
  for (const Task& task : program.tasks) {
    if (!task.dispatch) continue;
    std::ostringstream text;
    text << task.dispatch->shader << ' ' << task.dispatch->subgroup_size;
    for (const uint32_t size : task.dispatch->workgroup_size) text << ' ' << size;
    for (const auto& [macro, value] : task.dispatch->defines) text << ' ' << macro << '=' << value;
    for (const Binding& binding : task.dispatch->bindings) {
      const TensorDesc& desc = program.tensors[binding.tensor].desc;
      if (desc.storage == Storage::buffer) continue;
      const Extent3 extent = desc.extent();
      for (const uint32_t size : {extent.width, extent.height, extent.depth})
        text << (std::has_single_bit(size) ? 'p' : '-');
    }
    kernels.insert(text.str());
  }
  return kernels;
}

}  // namespace

KernelRuns::Reference::Reference(const OperatorCase& test, bool fp16) : graph(single_node_graph(test, fp16)) {
  for (size_t i = 0; i < test.inputs.size(); ++i)
    if (test.inputs[i] && !test.constants.contains(i))
      inputs.push_back(fp16 ? rounded_to_half(*test.inputs[i]) : *test.inputs[i]);
  outputs = evaluate(graph, inputs);
}

std::optional<Computation> KernelRuns::computation_of(const Configuration& configuration) {
  SCOPED_TRACE(describe(configuration));
  const std::optional<Program> program = lowered(configuration);
  if (!program) return std::nullopt;
  return Computation{computation(*program), kernels_of(*program)};
}

void KernelRuns::run(const Configuration& configuration, size_t one_in) {
  const std::string what = describe(configuration);
  SCOPED_TRACE(what);
  std::optional<Program> program = lowered(configuration);
  if (!program) return;
  const std::string text = computation(*program);
  if (!ran_.empty() && std::hash<std::string>()(text) % one_in != 0) return;
  if (!ran_.insert(text).second) return;
  const Reference& reference = reference_of(configuration);
  Executor executor(test_context(), compile_program(test_context(), std::move(*program)));
  for (size_t i = 0; i < reference.inputs.size(); ++i) executor.set_input(i, reference.inputs[i]);
  executor.run();
  const Tolerance tolerance = tolerance_of(test_, configuration.options);
  for (size_t i = 0; i < reference.outputs.size(); ++i)
    compare(executor.output(i), reference.outputs[i], tolerance, what);
}

const KernelRuns::Reference& KernelRuns::reference_of(const Configuration& configuration) {
  const bool fp16 = configuration.options.precision == Precision::fp16;
  return references_.try_emplace(fp16, test_, fp16).first->second;
}

std::string KernelRuns::describe(const Configuration& configuration) const {
  return describe_run(test_, configuration.options) +
         (configuration.caps.reads_buffers_as_texels ? " texels" : "") +
         (configuration.caps.type == DeviceType::cpu ? "" : " as for a GPU");
}

std::optional<Program> KernelRuns::lowered(const Configuration& configuration) {
  Graph graph = reference_of(configuration).graph;
  decompose(graph);
  Program program = lower(graph, configuration.caps, configuration.options);
  if (configuration.options.arithmetic == Arithmetic::fp16 && !multiplies_halves(program))
    return std::nullopt;
  if (configuration.options.fold > 0 && !folds(program)) return std::nullopt;
  const bool runs_loops = configuration.caps.max_loop_iterations >= kLeastIterations;
  if (!test_.sweep.host_allowed && configuration.caps.max_storage_buffers_per_stage >= test_.sweep.buffers &&
      runs_loops) {
    EXPECT_TRUE(program.warnings.empty()) << program.warnings.front();
  }
  return program;
}

}  // namespace vellum::test
