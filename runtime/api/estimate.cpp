#include "vellum/estimate.hpp"

#include "api/guard.hpp"
#include "api/impl.hpp"
#include "estimate/estimate.hpp"
#include "exec/device_tensors.hpp"

namespace vellum {
namespace {

MemoryEstimate estimate_with(const Model& model, const SessionOptions& options, const DeviceCaps& caps,
                             MemoryRules rules, const TuningTable* tuning) {
  const Graph& graph = model.impl()->graph;
  const Program program = make_program(model, caps, options, tuning);
  MemoryEstimate estimate = estimate_program({program, graph, plan_options(options), caps, std::move(rules),
                                              options.weights_budget, options.in_flight,
                                              model.impl()->packed});
  estimate.shape_inference_bytes = shape_inference_bytes(graph, options.input_shapes, options.precision);
  return estimate;
}

}  // namespace

MemoryEstimate estimate_memory(const Model& model, const SessionOptions& options, const Caps& caps) {
  return guard([&] {
    const DeviceCaps& known = caps.impl()->caps;
    return estimate_with(model, options, known, modelled_rules(known), nullptr);
  });
}

MemoryEstimate estimate_memory(const Model& model, const SessionOptions& options, const Device& device) {
  return guard([&] {
    const std::shared_ptr<gpu::Context>& context = device.impl()->context;
    return estimate_with(model, options, context->caps(), device_rules(context),
                         device.impl()->tuning_for(options).get());
  });
}

}  // namespace vellum
