#include "api/target.hpp"

#include <optional>
#include <utility>

#include "api/cache_capacity.hpp"
#include "api/fit_budget.hpp"
#include "api/guard.hpp"
#include "api/tensor_names.hpp"
#include "exec/device_tensors.hpp"
#include "graph/operators/control/branch.hpp"
#include "passes/passes.hpp"
#include "passes/shapes/shape_inputs.hpp"

namespace vellum {
namespace {

std::string values_text(const Tensor& tensor) {
  std::string text;
  const auto append = [&](const auto& values) {
    for (const auto value : values) text += (text.empty() ? "" : ",") + std::to_string(value);
  };
  is_float(tensor.dtype()) ? append(tensor.to_floats()) : append(tensor.to_ints());
  return text.empty() ? "no values" : text;
}

// Names the inputs whose shapes are not the model's own, and the values that decide shapes:
// "input 'x' of 2x3x128x128, 'sizes' = 4,4".
std::string chosen_inputs(const Model& model, const CompileOptions& options) {
  std::string text;
  const InputShapes& shapes = options.input_shapes;
  for (const TensorInfo& input : model.inputs()) {
    const auto found = shapes.find(input.name);
    if (found == shapes.end() || found->second == input.shape || options.input_values.contains(input.name))
      continue;
    text += (text.empty() ? "input '" : ", input '") + input.name + "' of " + to_string(found->second);
  }
  for (const auto& [name, tensor] : options.input_values)
    text += (text.empty() ? "input '" : ", input '") + name + "' = " + values_text(tensor);
  return text;
}

// A graph has only the branches that were chosen before its caches got a capacity.
void check_branch_values(const Model::Impl& model, const InputTensors& values) {
  for (const auto& [name, chosen] : model.branch_values) {
    const auto given = values.find(name);
    if (given != values.end() && If::is_true(given->second) != If::is_true(chosen))
      throw Error(ErrorCode::invalid_argument,
                  "input '" + name + "' is " + values_text(given->second) + ", but was " +
                      values_text(chosen) +
                      " when the session's caches got their capacity: use a session of its own");
  }
}

// Converts Error(corrupt_model): if a model cannot run with the shapes that the caller chose, the shapes are
// at fault.
Graph graph_for_shapes(const Model& model, const DeviceCaps& caps, CompileOptions options) {
  options.input_shapes = by_tensor_name(model.inputs(), options.input_shapes);
  options.input_values = by_tensor_name(model.inputs(), options.input_values);
  options.state = by_tensor_name(model, options.state);
  check_input_shapes(impl(model)->graph, options.input_shapes);
  check_input_values(impl(model)->graph, impl(model)->shape_inputs, options.input_values);
  check_branch_values(*impl(model), options.input_values);
  check_pass_names(options.disabled_passes);
  try {
    return prepare_graph(impl(model)->graph, caps, options);
  } catch (const Error& error) {
    const std::string chosen = chosen_inputs(model, options);
    const bool misfit =
        error.code() == ErrorCode::corrupt_model || error.code() == ErrorCode::invalid_argument;
    if (!misfit || chosen.empty()) throw;
    throw Error(ErrorCode::invalid_argument, "the model cannot run with " + chosen + ": " + error.what());
  }
}

std::string name_and_driver(const DeviceCaps& caps) {
  return caps.name + (caps.driver.empty() ? "" : ", " + caps.driver);
}

// Warnings name the device for which the program was compiled. Replaces the device of a bundle's caps by this
// device.
void name_device_in_warnings(Program& program, const DeviceCaps& compiled_for, const DeviceCaps& device) {
  const std::string wrong_name = name_and_driver(compiled_for) + ":";
  for (std::string& warning : program.warnings)
    if (warning.starts_with(wrong_name)) warning.replace(0, wrong_name.size(), name_and_driver(device) + ":");
}

// Adds a kernel that the program of a bundle must avoid, and the same kernel on images that are not folded,
// because images are folded after kernels are avoided. Layers stay fused and images folded, because the other
// shaders of the bundle are made for these; it also has those of the program without rows of texels. Returns
// whether one of the two is new.
bool add_avoided(const std::string& kernel, const WrongKernel& wrong, WrongKernels& avoided) {
  const WrongKernel here{.why = wrong.why, .accesses_rows = wrong.accesses_rows};
  bool is_new = avoided.emplace(kernel, here).second;
  if (wrong.uses_folded_images())
    is_new |= avoided.emplace(wrong.unfolded, WrongKernel{.why = wrong.why}).second;
  return is_new;
}

}  // namespace

void check_choices(const SessionOptions& options) {
  check_choice(options.precision, Precision::fp16, "SessionOptions::precision");
  check_choice(options.arithmetic, Arithmetic::automatic, "SessionOptions::arithmetic");
  check_choice(options.state_precision, StatePrecision::int8, "SessionOptions::state_precision");
  check_choice(options.storage, StorageChoice::buffer, "SessionOptions::storage");
  check_choice(options.memory, MemoryMode::offsets, "SessionOptions::memory");
  check_choice(options.winograd, Winograd::f4, "SessionOptions::winograd");
}

CompileOptions compile_options(const SessionOptions& options) {
  check_choices(options);
  return {.input_shapes = options.input_shapes,
          .input_values = options.input_values,
          .state = options.state,
          .state_precision = options.state_precision,
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
          .device_regions = options.memory_budget == 0 && options.weights_budget == 0,
          .host_fallback = options.host_fallback,
          .plan = {.mode = options.memory,
                   .strategy = options.planning.strategy,
                   .search_budget = std::chrono::milliseconds(options.planning.search_ms)},
          .memory_rules = {}};
}

CompileOptions Device::Impl::compile_options(const SessionOptions& options) {
  CompileOptions result = vellum::compile_options(options);
  result.tuning = tuning_for(options);
  result.memory_rules = device_rules(context);
  if (checks_kernels(nullptr) && !first_use_check.may_share_memory(context, context->caps())) {
    result.plan.mode = MemoryMode::naive;
    result.in_place = false;
  }
  return result;
}

bool Device::Impl::may_share_memory(const PackedModel& bundle, const DeviceCaps& caps) {
  return !checks_kernels(&bundle) ||
         first_use_check.may_share_memory(
             context, caps, [&](const Program& program) { return bundle.has_shaders_of(program); });
}

void Device::Impl::warn_of_memory(CompiledModel& model, const PackedModel* bundle) {
  const auto has_no_shaders = [](const Program&) { return false; };  // it was checked before
  if (!checks_kernels(bundle) || first_use_check.may_share_memory(context, context->caps(), has_no_shaders))
    return;
  model.program.warnings.push_back(
      name_and_driver(context->caps()) +
      ": computes wrong results where tensors share memory; each tensor has memory of its own");
}

CompiledModel Device::Impl::compile(const Graph& prepared, const CompileOptions& options, Stage last) {
  CompiledModel model = compile_for_device(prepared, options, last);
  warn_of_memory(model, nullptr);
  if (on_compiled) on_compiled(model);
  return model;
}

bool Device::Impl::checks_kernels(const PackedModel* bundle) const {
  if (self_check == SelfCheck::off || (!compiles_shaders && !bundle)) return false;
  return self_check == SelfCheck::on || context->caps().type != DeviceType::cpu;
}

std::vector<bool> Device::Impl::have_right_kernels(std::span<const Program> programs, Precision precision,
                                                   Arithmetic arithmetic) {
  if (!checks_kernels(nullptr)) return std::vector<bool>(programs.size(), true);
  return first_use_check.passes(context,
                                {.programs = programs, .precision = precision, .arithmetic = arithmetic});
}

bool Device::Impl::is_right(const Program& program, const DeviceCaps& caps, const CompileOptions& options,
                            const PackedModel* bundle) {
  if (self_check == SelfCheck::off) return true;
  if (first_use_check.finds_crashes(*context, program)) return false;
  if (!checks_kernels(bundle)) return true;
  CheckedPrograms checked{.programs = {&program, 1},
                          .precision = options.precision,
                          .arithmetic = options.arithmetic,
                          .caps = &caps};
  if (bundle) checked.has_shaders = [&](const Program& small) { return bundle->has_shaders_of(small); };
  return first_use_check.passes(context, checked).front();
}

// A kernel that replaces a wrong one is checked, too. The loop ends soon, because each iteration has a
// verdict for at least one more kernel, and a node without a right kernel runs on the host.
CompiledModel Device::Impl::compile_checked(const Graph& prepared, const DeviceCaps& caps,
                                            CompileOptions options, Stage last) {
  constexpr int kMostRounds = 64;
  for (int round = 0; round < kMostRounds; ++round) {
    if (self_check != SelfCheck::off) options.wrong_kernels = first_use_check.wrong_kernels(*context);
    CompiledModel model = compile_prepared(prepared, caps, options, last);
    if (last < Stage::program || is_right(model.program, caps, options, nullptr)) return model;
  }
  throw Error(ErrorCode::unsupported,
              context->caps().name + ", " + context->caps().driver +
                  ", computes wrong results with so many kernels that the model cannot "
                  "run on it; `vellum doctor` reports them");
}

// A bundle has only the kernels of one program, so that the host computes nodes with wrong kernels. If that
// needs a layout conversion that the bundle lacks or that is wrong, the host computes everything.
CompiledModel Device::Impl::compile_with_right_kernels_of(const PackedModel& bundle, const Graph& prepared,
                                                          const DeviceCaps& caps, CompileOptions options,
                                                          Stage last) {
  options.wrong_nodes = WrongNodes::on_host;
  auto avoided = std::make_shared<WrongKernels>();
  const auto add_wrong = [&] {
    bool is_new = false;
    for (const auto& [kernel, wrong] : *first_use_check.wrong_kernels(*context))
      is_new |= add_avoided(kernel, wrong, *avoided);
    return is_new;
  };
  add_wrong();
  for (bool is_new = true; is_new;) {
    options.wrong_kernels = avoided;
    try {
      CompiledModel model = compile_prepared(prepared, caps, options, last);
      if (bundle.has_shaders_of(model.program) && is_right(model.program, caps, options, &bundle))
        return model;
      is_new = add_wrong();
      for (const Task& task : model.program.tasks)
        if (task.dispatch && !bundle.has_shader_of(model.program, *task.dispatch)) {
          const KernelId kernel = kernel_id(*task.dispatch);
          const WrongKernel lacking = wrong_kernel(kernel, "the bundle has no shader of it");
          is_new |= add_avoided(kernel.text(), lacking, *avoided);
        }
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported || !options.host_fallback) throw;
      is_new = false;
    }
  }
  options.wrong_nodes = WrongNodes::all_on_host;
  return compile_prepared(prepared, caps, options, last);
}

DeviceCaps Device::Impl::kernel_caps(Precision precision) {
  DeviceCaps caps = context->caps();
  if (precision == Precision::fp16 && caps.packs_halves && checks_kernels(nullptr))
    caps.packs_halves = first_use_check.packs_halves(context, caps);
  return caps;
}

bool Device::Impl::packs_halves(const PackedModel& bundle, const DeviceCaps& caps, Precision precision) {
  if (!caps.packs_halves || !context->caps().packs_halves) return false;
  if (precision != Precision::fp16 || !checks_kernels(&bundle)) return true;
  return first_use_check.packs_halves(context, caps,
                                      [&](const Program& program) { return bundle.has_shaders_of(program); });
}

CompiledModel Device::Impl::compile_for_device(const Graph& prepared, const CompileOptions& options,
                                               Stage last) {
  DeviceCaps caps = kernel_caps(options.precision);
  CompiledModel model = compile_checked(prepared, caps, options, last);
  // Without matrices of bytes a layer may be computed by those of halves, and the other way round.
  while (cooperative_check.removes_wrong(context, model.program, caps))
    model = compile_checked(prepared, caps, options, last);
  return model;
}

std::optional<CompiledModel> Device::Impl::compile_from_bundle(const Model& model, DeviceCaps caps,
                                                               CompileOptions options, Stage last) {
  const PackedModel& bundle = *impl(model)->packed;
  if (last >= Stage::program && !may_share_memory(bundle, caps)) {
    options.plan.mode = MemoryMode::naive;
    options.in_place = false;
  }
  caps.packs_halves = packs_halves(bundle, caps, options.precision);
  const Graph graph = graph_for_shapes(model, caps, options);
  CompiledModel compiled = compile_prepared(graph, caps, options, last);
  if (!bundle.has_shaders_of(compiled.program)) return {};
  if (cooperative_check.removes_wrong(context, compiled.program, caps))
    return compile_from_bundle(model, std::move(caps), std::move(options), last);
  if (self_check == SelfCheck::off || last < Stage::program) return compiled;
  if (first_use_check.wrong_kernels(*context)->empty() && is_right(compiled.program, caps, options, &bundle))
    return compiled;
  compiled = compile_with_right_kernels_of(bundle, graph, caps, options, last);
  name_device_in_warnings(compiled.program, caps, context->caps());
  return compiled;
}

std::optional<CompiledModel> Device::Impl::compile_from_bundle(const Model& model,
                                                               const CompileOptions& options, Stage last) {
  if (auto compiled = compile_from_bundle(model, context->caps(), options, last)) return compiled;
  std::optional<DeviceCaps> caps = impl(model)->packed->caps();
  if (!caps) return {};
  caps->cooperative_matrices.clear();  // the bundle also has shaders without cooperative matrices
  // Kernels in fp32 have no images of halves, which SwiftShader and lavapipe on Arm lack.
  if (options.precision == Precision::fp32) caps->rgba16f_images = context->caps().rgba16f_images;
  if (!can_run_kernels_for(context->caps(), *caps)) return {};
  CompileOptions untuned = options;
  untuned.tuning = nullptr;
  return compile_from_bundle(model, *caps, std::move(untuned), last);
}

CompiledModel Device::Impl::compile(const Model& model, const CompileOptions& options, Stage last) {
  std::optional<CompiledModel> compiled;
  if (impl(model)->packed && !compiles_shaders) compiled = compile_from_bundle(model, options, last);
  if (!compiled)
    compiled = compile_for_device(graph_for_shapes(model, context->caps(), options), options, last);
  warn_of_memory(*compiled, impl(model)->packed.get());
  if (on_compiled) on_compiled(*compiled);
  return std::move(*compiled);
}

Target::Target(const Device* device)
    : device_(device ? impl(*device) : nullptr),
      caps_(device ? device_->context->caps() : DeviceCaps{}),
      memory_rules_(device ? device_rules(device_->context) : modelled_rules(caps_)) {}

Target::Target(const Caps& caps) : caps_(impl(caps)->caps), memory_rules_(modelled_rules(caps_)) {}

CompiledModel Target::compile(const Model& source, const SessionOptions& options, Stage last) const {
  const Model model = with_cache_capacity(source, options);
  if (options.memory_budget) return *fit_budget(*this, model, options).compiled;
  const CompileOptions wanted = compile_options(options);
  return compile(prepare(model, wanted), wanted, last);
}

CompileOptions Target::compile_options(const SessionOptions& options) const {
  return device_ ? device_->compile_options(options) : vellum::compile_options(options);
}

Graph Target::prepare(const Model& model, const CompileOptions& options) const {
  return graph_for_shapes(model, caps_, options);
}

CompiledModel Target::compile(Graph prepared, const CompileOptions& options, Stage last) const {
  if (device_) return device_->compile(prepared, options, last);
  return compile_prepared(std::move(prepared), caps_, options, last);
}

}  // namespace vellum
