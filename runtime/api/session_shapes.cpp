// Prepares a session for the shapes of its inputs and for the values that decide shapes.
#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "api/fit_budget.hpp"
#include "api/region_runner.hpp"
#include "api/session_impl.hpp"
#include "passes/caches/growing_caches.hpp"

namespace vellum {
namespace {

std::vector<TensorInfo> infos(const std::vector<Port>& ports) {
  std::vector<TensorInfo> result;
  result.reserve(ports.size());
  for (const Port& port : ports) result.push_back({port.name, port.type.dtype, port.type.shape});
  return result;
}

// Returns whether a region is among the nodes that follow operators with data-dependent shapes.
bool has_late_regions(const Program& program) {
  return std::ranges::any_of(program.tasks, [](const Task& task) {
    return task.host && std::ranges::any_of(task.host->graph->nodes, [](const Node& node) {
             return dynamic_cast<const DeviceRegion*>(node.op.get()) != nullptr;
           });
  });
}

bool has_regions(const Program& program) {
  return std::ranges::any_of(
      program.tasks, [](const Task& task) { return task.host && count_regions(*task.host->graph) > 0; });
}

}  // namespace

bool InputKey::operator==(const InputKey& other) const {
  return shapes == other.shapes && std::ranges::equal(values, other.values, [](const auto& a, const auto& b) {
           return a.first == b.first && a.second.type() == b.second.type() &&
                  std::ranges::equal(std::span(a.second.data(), a.second.byte_size()),
                                     std::span(b.second.data(), b.second.byte_size()));
         });
}

std::optional<Tensor> Session::Impl::known_values(size_t index) const {
  if (is_ready()) return executors.front().first.values.at(index);
  if (const auto found = options.input_values.find(inputs[index].name); found != options.input_values.end())
    return found->second;
  if (std::ranges::count(inputs[index].shape, 0) > 0 && is_known(inputs[index].shape))
    return Tensor(inputs[index].dtype, inputs[index].shape);
  return std::nullopt;
}

bool Session::Impl::has_known_values(size_t index) const {
  if (is_ready()) return first_executor().program().inputs[index].constant.has_value();
  return model.inputs()[index].decides_shapes && known_values(index);
}

bool Session::Impl::is_prepared_for(size_t index, std::span<const std::byte> values) const {
  const Tensor& prepared = executors.front().first.values.at(index);
  return std::ranges::equal(std::span(prepared.data(), prepared.byte_size()), values);
}

InputKey Session::Impl::wanted_key() const {
  InputKey key;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto found = staged.find(i);
    key.shapes.push_back(found != staged.end() ? found->second.shape() : inputs[i].shape);
    if (!model.inputs()[i].decides_shapes) continue;
    std::optional<Tensor> values = found != staged.end() ? found->second : known_values(i);
    if (!values)
      throw Error(ErrorCode::invalid_argument, "the values of input '" + inputs[i].name +
                                                   "' decide shapes: set them first, or give them as "
                                                   "SessionOptions::input_values");
    key.values.emplace(i, *std::move(values));
  }
  return key;
}

// Tuned kernels may take more memory than the device has left: Winograd's weights are several times as large.
Session::Impl::Executors Session::Impl::make_executors(const InputKey& key) {
  CompileOptions compile_options = impl(device)->compile_options(options);
  compile_options.progress = progress;
  for (size_t i = 0; i < inputs.size(); ++i) compile_options.input_shapes[inputs[i].name] = key.shapes[i];
  for (const auto& [i, tensor] : key.values) compile_options.input_values[inputs[i].name] = tensor;
  if (!compile_options.tuning || compile_options.tuning->empty())
    return make_executors(
        std::make_shared<const CompiledModel>(impl(device)->compile(model, compile_options)));
  try {
    return make_executors(
        std::make_shared<const CompiledModel>(impl(device)->compile(model, compile_options)));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory) throw;
    compile_options.tuning = nullptr;
    CompiledModel untuned = impl(device)->compile(model, compile_options);
    untuned.program.warnings.push_back(
        "the session does not use the tuned kernels, which take too much memory: " +
        std::string(error.what()));
    return make_executors(std::make_shared<const CompiledModel>(std::move(untuned)));
  }
}

Session::Impl::Executors Session::Impl::make_executors(const std::shared_ptr<const CompiledModel>& compiled) {
  const std::shared_ptr<gpu::Context>& context = impl(device)->context;
  RunRegion run_region;
  const bool has_budget = options.memory_budget > 0 || options.weights_budget > 0;
  if (has_regions(compiled->program)) {
    if (has_budget && has_late_regions(compiled->program))
      throw Error(ErrorCode::unsupported,
                  "layers behind an operator whose shape only a run determines take device memory that no "
                  "budget counts: leave out the budget, or cut the model in two");
    if (!has_budget)
      run_region = [runner = std::make_shared<RegionRunner>(device, options)](
                       const DeviceRegion& region, HostInputs values) { return runner->run(region, values); };
  }
  prepare_state(compiled->program);
  Executors made;
  while (made.size() < options.in_flight)
    made.push_back(std::make_unique<Executor>(context, compiled,
                                              ExecutorOptions{.submits = impl(device)->submit_limits(options),
                                                              .timestamps = options.profile,
                                                              .progress = progress,
                                                              .pool = pools[made.size()],
                                                              .memory_budget = memory_budget,
                                                              .state = state,
                                                              .run_region = run_region},
                                              weights));
  for (const std::string& warning : compiled->program.warnings) context->log(LogLevel::warning, warning);
  return made;
}

// Frees the executors of other shapes, so that the new shapes have the whole budget. They are freed only
// after a way was found.
Session::Impl::Executors Session::Impl::make_executors_within_budget(const RequestQueue::Lock& lock,
                                                                     const InputKey& key) {
  SessionOptions shaped = options;
  for (size_t i = 0; i < inputs.size(); ++i) shaped.input_shapes[inputs[i].name] = key.shapes[i];
  for (const auto& [i, tensor] : key.values) shaped.input_values[inputs[i].name] = tensor;
  FittedModel fitted = fit_budget(Target(&device), model, shaped, progress);
  release_own_request(lock, key);
  queue->set_executors(lock, {});
  executors.clear();
  weights = impl(device)->weights_for(model, fitted.way.options, memory_budget);
  return make_executors(std::move(fitted.compiled));
}

// With a weights budget the first executor determines how much of it the session allocates. If a later
// executor needs more, the other executors are freed first. If that does not suffice, the session is not
// prepared for any shape afterwards.
Session::Impl::Executors Session::Impl::make_executors_or_free_others(const RequestQueue::Lock& lock,
                                                                      const InputKey& key) {
  if (memory_budget) return make_executors_within_budget(lock, key);
  try {
    return make_executors(key);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory || options.weights_budget == 0 || !is_ready()) throw;
  }
  release_own_request(lock, key);
  queue->set_executors(lock, {});
  executors.clear();
  return make_executors(key);
}

void Session::Impl::switch_to(const RequestQueue::Lock& lock, const InputKey& key) {
  if (is_ready() && executors.front().first == key) return;
  const auto found = std::ranges::find_if(executors, [&](const auto& entry) { return entry.first == key; });
  if (found == executors.end())
    executors.emplace_front(key, make_executors_or_free_others(lock, key));
  else
    executors.splice(executors.begin(), executors, found);
  release_own_request(lock, key);
  queue->set_executors(lock, executors.front().second);
  while (executors.size() > options.cached_shapes) executors.pop_back();
  const Program& program = first_executor().program();
  inputs = infos(program.inputs);
  outputs = infos(program.outputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].decides_shapes = model.inputs()[i].decides_shapes;
    inputs[i].signature_name = model.inputs()[i].signature_name;
    inputs[i].initial_value = model.inputs()[i].initial_value;
  }
  for (size_t i = 0; i < outputs.size(); ++i) outputs[i].signature_name = model.outputs()[i].signature_name;
  warnings = program.warnings;
  new_tokens = tokens_of_run(first_executor().model().graph);
  update_state_infos();
}

}  // namespace vellum
