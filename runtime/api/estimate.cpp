#include "vellum/estimate.hpp"

#include <memory>
#include <utility>

#include "api/cache_capacity.hpp"
#include "api/fit_budget.hpp"
#include "api/guard.hpp"
#include "api/target.hpp"
#include "api/tensor_names.hpp"
#include "estimate/estimate.hpp"
#include "passes/caches/growing_caches.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

// The shapes of growing caches do not follow from those of the other inputs.
Graph with_fixed_caches(const Graph& graph, const SessionOptions& options) {
  if (!has_cache_length(graph)) return graph;
  return fix_cache_capacity(graph, state_pairs(graph, options.state), options.input_shapes,
                            options.input_values);
}

MemoryEstimate estimate_memory(const Model& source, SessionOptions options, const Target& target,
                               const DeviceCaps& caps, const StreamRates& rates) {
  if (!(rates.bus >= 0) || !(rates.disk >= 0))
    throw Error(ErrorCode::invalid_argument, "a rate of a bus or a disk is below 0");
  const Model model = with_cache_capacity(source, options);
  const Graph& graph = impl(model)->graph;
  options = by_tensor_name(model, std::move(options));
  std::shared_ptr<const CompiledModel> compiled;
  if (options.memory_budget) {  // as the session would be made
    FittedModel fitted = fit_budget(target, model, options);
    compiled = std::move(fitted.compiled);
    options = std::move(fitted.way.options);
  } else {
    compiled = std::make_shared<const CompiledModel>(target.compile(model, options));
  }
  MemoryEstimate estimate =
      estimate_model({*compiled, graph, caps, target.memory_rules(), options.weights_budget,
                      options.in_flight, impl(model)->packed, rates});
  estimate.shape_inference_bytes = shape_inference_bytes(
      with_fixed_caches(graph, options), options.input_shapes, options.input_values, options.precision);
  return estimate;
}

}  // namespace

MemoryEstimate estimate_memory(const Model& model, const SessionOptions& options, const Caps& caps,
                               const StreamRates& rates) {
  return guard([&] { return estimate_memory(model, options, Target(caps), impl(caps)->caps, rates); });
}

MemoryEstimate estimate_memory(const Model& model, const SessionOptions& options, const Device& device,
                               const StreamRates& rates) {
  return guard(
      [&] { return estimate_memory(model, options, Target(&device), impl(Caps::of(device))->caps, rates); });
}

}  // namespace vellum
