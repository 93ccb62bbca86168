// The inputs and runs of a session. session_shapes.cpp makes its executors.
#include "api/session_impl.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "api/cache_capacity.hpp"
#include "api/fit_budget.hpp"
#include "api/impl.hpp"
#include "exec/finite_check.hpp"
#include "exec/recording.hpp"
#include "passes/passes.hpp"
#include "passes/shapes/shape_inputs.hpp"
#include "vulkan/memory_budget.hpp"

namespace vellum {
namespace {

// The most runs in flight. Each has tensors of its own, and no device gains by more runs.
constexpr uint32_t kMostInFlight = 64;

RequestQueue::Names signature_names(const std::vector<TensorInfo>& infos) {
  RequestQueue::Names names;
  for (const TensorInfo& info : infos)
    if (!info.signature_name.empty()) names.emplace(info.signature_name, info.name);
  return names;
}

Tensor copy_of(const Tensor& tensor) {
  Tensor copy(tensor.dtype(), tensor.shape());
  if (tensor.byte_size()) std::memcpy(copy.mutable_data(), tensor.data(), tensor.byte_size());
  return copy;
}

std::vector<std::shared_ptr<ArenaPool>> make_pools(const std::shared_ptr<gpu::Context>& context,
                                                   const SessionOptions& options,
                                                   const std::shared_ptr<gpu::MemoryBudget>& budget) {
  if (const std::shared_ptr<ArenaPool>& given = impl(options.memory_pool)) {
    if (given->context() != context)
      throw Error(ErrorCode::invalid_argument, "the memory pool is of another device than the session");
    return std::vector(options.in_flight, given);
  }
  std::vector<std::shared_ptr<ArenaPool>> own;
  while (own.size() < options.in_flight)
    own.push_back(std::make_shared<ArenaPool>(context, std::nullopt, budget));
  return own;
}

void check_options(const SessionOptions& options) {
  check_choices(options);
  // Throws for an unknown name.
  if (options.memory == MemoryMode::offsets)
    planner::offset_strategy_from_name(options.planning.strategy);
  else
    planner::object_strategy_from_name(options.planning.strategy);
  check_pass_names(options.debug.disabled_passes);
  if (options.cached_shapes == 0)
    throw Error(ErrorCode::invalid_argument,
                "a session must stay ready for one combination of shapes at least");
  if (options.in_flight == 0)
    throw Error(ErrorCode::invalid_argument, "a session must have room for one run in flight at least");
  if (options.in_flight > kMostInFlight)
    throw Error(ErrorCode::invalid_argument, "a session has at most " + std::to_string(kMostInFlight) +
                                                 " runs in flight, not " + std::to_string(options.in_flight));
  if (options.in_flight > 1 && options.weights_budget)
    throw Error(ErrorCode::invalid_argument,
                "weights that come to the device layer by layer serve one run at a time: leave out "
                "weights_budget, or in_flight");
}

}  // namespace

Session::Impl::Impl(const Device& target, const Model& source, const SessionOptions& session_options,
                    Progress* creation)
    : device(target),
      model(with_cache_capacity(source, session_options)),
      options(by_tensor_name(model, session_options)),
      states(state_pairs(impl(model)->graph, options.state)),
      memory_budget(options.memory_budget ? std::make_shared<gpu::MemoryBudget>(options.memory_budget)
                                          : nullptr),
      weights(memory_budget ? nullptr : impl(device)->weights_for(model, options)),
      inputs(model.inputs()),
      outputs(model.outputs()),
      queue(std::make_shared<RequestQueue>(signature_names(outputs))) {
  if (impl(model)->packed) impl(device)->context->pipelines().add_precompiled_shaders(impl(model)->packed);
  check_options(options);
  check_memory_budget(options);
  check_state_options();
  update_state_infos();
  pools = make_pools(impl(device)->context, options, memory_budget);
  check_input_shapes(impl(model)->graph, options.input_shapes);
  vellum::check_input_values(impl(model)->graph, impl(model)->shape_inputs, options.input_values);
  for (TensorInfo& input : inputs) {
    if (const auto given = options.input_values.find(input.name); given != options.input_values.end())
      input.shape = given->second.shape();
    else if (const auto found = options.input_shapes.find(input.name); found != options.input_shapes.end())
      input.shape = found->second;
    else if (!input.shape.empty() && input.shape[0] == kUnknownDim &&
             std::count(input.shape.begin(), input.shape.end(), kUnknownDim) == 1)
      input.shape[0] = 1;  // the batch
  }
  const auto& values = impl(model)->graph.values;
  const auto& ids = impl(model)->graph.inputs;
  bool known = true;
  for (size_t i = 0; i < inputs.size(); ++i)
    known = known && is_known(inputs[i].shape) &&
            (values[ids[i]].type_known || options.input_shapes.contains(inputs[i].name) ||
             options.input_values.contains(inputs[i].name)) &&
            (!inputs[i].decides_shapes || known_values(i));
  progress = creation;
  if (known) switch_to(queue->lock(), wanted_key());
  check(progress);
  progress = nullptr;
}

Session::Impl::~Impl() {
  const RequestQueue::Lock lock = drained();
  if (own_request) queue->release(lock, *own_request);
}

Executor& Session::Impl::first_executor() const {
  if (is_ready()) return *executors.front().second.front();
  throw Error(ErrorCode::invalid_argument,
              "the model leaves shapes of inputs open; set the inputs and run, or give shapes, first");
}

RequestQueue::Lock Session::Impl::drained() const {
  if (is_running_steps)
    throw Error(ErrorCode::invalid_argument,
                "the session is running steps: the function that is told their progress must not call it");
  RequestQueue::Lock lock = queue->lock();
  queue->drain(lock);
  return lock;
}

Request& Session::Impl::own(const RequestQueue::Lock& lock) {
  first_executor();
  if (!own_request) own_request = queue->try_begin_reusable(lock);
  if (options.check_finite) own_request->check_outputs();
  own_request->repeat_every(options.repeat_every);
  return *own_request;  // an executor was free, since no request is in flight
}

const Executor& Session::Impl::finished_run(size_t output) const {
  require_no_state_output(output);
  first_executor();
  if (!own_request || !own_request->succeeded())
    throw Error(ErrorCode::invalid_argument,
                "output '" + outputs[output].name +
                    "' cannot be read: no run() has succeeded since the session was made, inputs got other "
                    "shapes, or submit() was called, which returns a Run with outputs of its own");
  const Program& program = own_request->executor().program();
  if (const Port& port = program.outputs[output];
      last_recording && port.tensor != kNoTensor && last_recording->replaces(program.root(port.tensor)))
    throw Error(ErrorCode::invalid_argument,
                "output '" + port.name + "' of the last run is in the memory that it was bound to");
  return own_request->executor();
}

void Session::Impl::release_own_request(const RequestQueue::Lock& lock, const InputKey& next) {
  if (!own_request) return;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!is_state_input(i) && own_request->has_input(i) && inputs[i].shape == next.shapes[i] &&
        !inputs[i].decides_shapes)
      staged.emplace(i, own_request->executor().input(i));  // unless a newer value is staged
  queue->release(lock, *std::exchange(own_request, nullptr));
}

bool Session::Impl::has_input(size_t index) const {
  return is_state_input(index) || staged.contains(index) || (own_request && own_request->has_input(index)) ||
         has_known_values(index);
}

void Session::Impl::set_shape_input(size_t index, const Tensor& tensor) {
  const std::string& name = inputs[index].name;
  vellum::check_input_values(impl(model)->graph, impl(model)->shape_inputs, {{name, tensor}});
  if (is_ready() && tensor.shape() == inputs[index].shape &&
      is_prepared_for(index, {tensor.data(), tensor.byte_size()})) {
    staged.erase(index);
    return;
  }
  check_input_shapes(impl(model)->graph, {{name, tensor.shape()}});
  staged.insert_or_assign(index, copy_of(tensor));
}

void Session::Impl::set_input(const RequestQueue::Lock& lock, size_t index, const Tensor& tensor) {
  require_no_state_input(index);
  const TensorInfo& declared = model.inputs()[index];
  check_holds_values(declared.name, tensor);
  if (const auto shape = whole_mask_shape(declared, tensor.shape(), options.state_capacity);
      shape && tensor.dtype() == declared.dtype)
    return set_input(lock, index, whole_mask(declared.dtype, *shape, {tensor.data(), tensor.byte_size()}));
  if (tensor.dtype() != declared.dtype)
    throw Error(ErrorCode::invalid_argument,
                "input '" + declared.name + "' wants " + std::string(name(declared.dtype)) + " " +
                    to_string(inputs[index].shape) + " but got " + std::string(name(tensor.dtype())) + " " +
                    to_string(tensor.shape()));
  check_input_values(index, {tensor.data(), tensor.byte_size()});
  if (declared.decides_shapes) return set_shape_input(index, tensor);
  if (is_ready() && tensor.shape() == inputs[index].shape) {
    own(lock).set_input(index, tensor);
    staged.erase(index);
    return;
  }
  check_input_shapes(impl(model)->graph, {{declared.name, tensor.shape()}});
  staged.insert_or_assign(index, copy_of(tensor));
}

void Session::Impl::check_input_values(size_t index, std::span<const std::byte> values) const {
  const TensorInfo& input = model.inputs()[index];
  if (options.check_finite) check_finite("input '" + input.name + "'", input.dtype, values);
}

void refuse_missing(const TensorInfo& input, const char* what) {
  throw Error(
      ErrorCode::invalid_argument,
      "input '" + input.name + "' was not " + what +
          (input.initial_value ? ": a variable, which the option state = auto keeps from run to run" : ""));
}

void Session::Impl::run() {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!has_input(i)) refuse_missing(model.inputs()[i], "set");
  {
    const RequestQueue::Lock lock = drained();
    if (!is_ready() || !staged.empty()) switch_to(lock, wanted_key());
    Request& request = own(lock);
    for (const auto& [index, tensor] : staged) request.set_input(index, tensor);
    staged.clear();
    last_recording.reset();
    append_tokens();
  }
  try {
    queue->submit(*own_request);
    queue->wait(*own_request);
  } catch (...) {
    update_output_shapes();  // they are unknown again
    throw;
  }
  update_output_shapes();
}

void Session::Impl::update_output_shapes() {
  const Executor& executor = own_request->executor();
  if (!executor.program().has_run_time_shapes()) return;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorType& type = executor.output_type(i);
    outputs[i].dtype = type.dtype;
    outputs[i].shape = type.shape;
  }
}

// Executors for several shapes share arenas: each arena counts once.
uint64_t Session::Impl::weights_bytes() const {
  std::set<std::shared_ptr<gpu::Arena>> distinct;
  for (const auto& [key, same] : executors)
    for (const auto& arena : same.front()->weight_arenas()) distinct.insert(arena);
  uint64_t bytes = 0;
  for (const auto& arena : distinct) bytes += arena->size();
  return bytes;
}

}  // namespace vellum
