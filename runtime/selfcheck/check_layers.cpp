#include "selfcheck/check_layers.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "graph/one_node.hpp"
#include "kernels/framework/kernel_id.hpp"
#include "selfcheck/small_operator.hpp"
#include "selfcheck/small_run.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

// Random floats, or zeros of another type: zero is a valid index everywhere.
HostTensor some_input(const TensorType& type, uint32_t seed) {
  if (!is_float(type.dtype)) return HostTensor(type.dtype, type.shape);
  return cast(selfcheck::computed(type.shape, seed).tensor, type.dtype);
}

bool runs_on_host(const Program& program) {
  return std::ranges::any_of(program.tasks, [](const Task& task) { return task.host.has_value(); });
}

// The kernels of a program besides conversions, as "conv_pointwise, tile 4x2".
std::string kernels_of(const Program& program) {
  std::string text;
  for (const Task& task : program.tasks) {
    if (!task.dispatch || is_conversion(kernel_id(*task.dispatch))) continue;
    const Dispatch& dispatch = *task.dispatch;
    text += (text.empty() ? "" : "; ") + dispatch.shader;
    if (!dispatch.candidate.empty()) text += ", " + dispatch.candidate;
  }
  return text;
}

class LayersCheck {
 public:
  LayersCheck(const std::shared_ptr<gpu::Context>& context, const DeviceCaps& caps, const Graph& graph,
              const LoweringOptions& lowering, const KernelCheckOptions& options)
      : context_(context), caps_(caps), graph_(graph), lowering_(lowering), options_(options) {}

  std::vector<KernelCheck> check() {
    std::vector<HostTensor> inputs;
    for (const ValueId id : graph_.inputs)
      inputs.push_back(some_input(graph_.values[id].type, static_cast<uint32_t>(inputs.size() + 1)));
    size_t done = 0;
    evaluate(graph_, inputs, [&](const Node& node, std::span<const HostTensor* const> values) {
      if (options_.progress && !options_.progress(done++, graph_.nodes.size()))
        throw Error(ErrorCode::cancelled, "the check of layers was cancelled");
      std::vector<HostTensor> want = evaluate(node, values);
      if (describe(node).find(options_.only) != std::string::npos) check(node, values, want);
      return want;
    });
    return std::move(checks_);
  }

 private:
  void check(const Node& node, std::span<const HostTensor* const> values,
             const std::vector<HostTensor>& all_outputs) {
    OneNode one = one_node(graph_, node);
    std::vector<HostTensor> inputs = inputs_of(node, values, one);
    if (inputs.empty()) return;
    const SmallOperator layer{describe(node), std::move(one.graph), std::move(inputs), {}};
    std::vector<HostTensor> want;
    for (size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i] != kNoValue) want.push_back(all_outputs[i]);
    KernelCheck result{.operation = layer.name,
                       .kernel = {},
                       .precision = lowering_.precision,
                       .arithmetic = lowering_.arithmetic,
                       .storage = lowering_.storage,
                       .error = 0,
                       .bound = error_bound(lowering_.precision),
                       .failure = {}};
    try {
      Program program = lower(layer.graph, caps_, lowering_);
      if (runs_on_host(program)) return;
      result.kernel = kernels_of(program);
      if (result.kernel.empty()) return;
      result.error = runs_.error(layer, std::move(program), want);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::device_lost) throw;
      result.failure = error.what();
    }
    checks_.push_back(std::move(result));
  }

  // The values of the inputs of the node's own graph, in its order.
  static std::vector<HostTensor> inputs_of(const Node& node, std::span<const HostTensor* const> values,
                                           const OneNode& one) {
    std::vector<HostTensor> inputs;
    for (const ValueId own : one.graph.inputs) {
      const auto input = std::ranges::find(node.inputs, one.values[own]);
      inputs.push_back(*values[static_cast<size_t>(input - node.inputs.begin())]);
    }
    return inputs;
  }

  const std::shared_ptr<gpu::Context>& context_;
  const DeviceCaps& caps_;
  const Graph& graph_;
  const LoweringOptions& lowering_;
  const KernelCheckOptions& options_;
  std::vector<KernelCheck> checks_;
  MarkedRuns runs_{context_, options_.repetitions};
};

}  // namespace

std::vector<KernelCheck> check_layers(const std::shared_ptr<gpu::Context>& context, const DeviceCaps& caps,
                                      const Graph& graph, const LoweringOptions& lowering,
                                      const KernelCheckOptions& options) {
  return LayersCheck(context, caps, graph, lowering, options).check();
}

}  // namespace vellum
