#include "api/target.hpp"

#include "exec/device_tensors.hpp"

namespace vellum {

CompileOptions compile_options(const SessionOptions& options) {
  return {.input_shapes = options.input_shapes,
          .disabled_passes = options.debug.disabled_passes,
          .weights_budget = options.weights_budget,
          .precision = options.precision,
          .arithmetic = options.arithmetic,
          .storage = options.storage,
          .winograd = options.winograd,
          .tuning = nullptr,
          .in_place = options.planning.in_place,
          .views = options.planning.views,
          .reorder = options.planning.reorder,
          .plan = {.mode = options.memory,
                   .strategy = options.planning.strategy,
                   .search_budget = std::chrono::milliseconds(options.planning.search_ms)},
          .memory_rules = {}};
}

CompileOptions Device::Impl::compile_options(const SessionOptions& options) {
  CompileOptions result = vellum::compile_options(options);
  result.tuning = tuning_for(options);
  result.memory_rules = device_rules(context);
  return result;
}

CompiledModel Device::Impl::compile(Graph prepared, const CompileOptions& options, Stage last) {
  CompiledModel model = compile_prepared(prepared, context->caps(), options, last);
  if (uses_cooperative_matrices(model.program) && !cooperative_check.passes(context)) {
    DeviceCaps caps = context->caps();
    caps.cooperative_matrices.clear();
    model = compile_prepared(std::move(prepared), caps, options, last);
  }
  if (on_compiled) on_compiled(model);
  return model;
}

CompiledModel Device::Impl::compile(const Model& model, const CompileOptions& options, Stage last) {
  return compile(prepare_graph(impl(model)->graph, context->caps(), options), options, last);
}

Target::Target(const Device* device)
    : device_(device ? impl(*device) : nullptr),
      caps_(device ? device_->context->caps() : DeviceCaps{}),
      memory_rules_(device ? device_rules(device_->context) : modelled_rules(caps_)) {}

Target::Target(const Caps& caps) : caps_(impl(caps)->caps), memory_rules_(modelled_rules(caps_)) {}

CompiledModel Target::compile(const Model& model, const SessionOptions& options, Stage last) const {
  if (device_) return device_->compile(model, device_->compile_options(options), last);
  return vellum::compile(impl(model)->graph, caps_, vellum::compile_options(options), last);
}

}  // namespace vellum
