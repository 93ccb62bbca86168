#include "running_network.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "api/impl.hpp"

namespace vellum::ort {
namespace {

std::vector<size_t> positions(const std::vector<TensorInfo>& tensors, const std::vector<std::string>& names) {
  std::vector<size_t> result;
  for (const TensorInfo& tensor : tensors) {
    const auto found = std::ranges::find(names, tensor.name);
    if (found == names.end())
      throw Error(ErrorCode::internal, "the runtime's node lacks '" + tensor.name + "'");
    result.push_back(static_cast<size_t>(found - names.begin()));
  }
  return result;
}

void append(std::string& key, const void* data, size_t bytes) {
  key.append(static_cast<const char*>(data), bytes);
}

std::shared_ptr<const std::byte> borrowed(const void* data) {
  return {std::shared_ptr<const std::byte>(), static_cast<const std::byte*>(data)};
}

void* output_memory(OrtKernelContext& context, size_t position, const Shape& shape) {
  auto* value = get<OrtValue*>(api().KernelContext_GetOutput, &context, position, shape.data(), shape.size());
  return value ? get<void*>(api().GetTensorMutableData, value) : nullptr;
}

size_t byte_size(const TensorInfo& tensor) {
  return static_cast<size_t>(element_count(tensor.shape)) * size_of(tensor.dtype);
}

}  // namespace

RunningNetwork::RunningNetwork(const Shared& shared, const Model& part, const Names& names, size_t number)
    : shared_(shared),
      model_(part),
      input_positions_(positions(model_.inputs(), names.inputs)),
      output_positions_(positions(model_.outputs(), names.outputs)),
      name_(impl(model_)->graph.name),
      profile_page_(shared.options.profile_html, number, "ONNX Runtime") {
  std::vector<Input> known;
  for (const TensorInfo& input : model_.inputs()) {
    if (input.decides_shapes || !is_known(input.shape)) return;
    known.push_back({nullptr, 0, input.shape});
  }
  prepared_for(known);
}

std::vector<RunningNetwork::Input> RunningNetwork::read_inputs(const OrtKernelContext& context) const {
  std::vector<Input> inputs;
  for (size_t i = 0; i < input_positions_.size(); ++i) {
    const auto* value = get<const OrtValue*>(api().KernelContext_GetInput, &context, input_positions_[i]);
    ONNXTensorElementDataType type{};
    const int64_t* dims = nullptr;
    size_t rank = 0;
    check(api().GetTensorElementTypeAndShapeDataReference(value, &type, &dims, &rank));
    Input input{get<const void*>(api().GetTensorData, value), 0, Shape(dims, dims + rank)};
    input.bytes = static_cast<size_t>(element_count(input.shape)) * size_of(model_.inputs()[i].dtype);
    inputs.push_back(std::move(input));
  }
  return inputs;
}

std::shared_ptr<RunningNetwork::Prepared> RunningNetwork::prepared_for(const std::vector<Input>& inputs) {
  const bool measures_times = shared_.options.session.profile || shared_.events->are_wanted();
  std::string key(1, measures_times ? 'm' : ' ');
  for (size_t i = 0; i < inputs.size(); ++i) {
    append(key, inputs[i].shape.data(), inputs[i].shape.size() * sizeof(int64_t));
    if (model_.inputs()[i].decides_shapes) append(key, inputs[i].data, inputs[i].bytes);
  }
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(prepared_, key, [](const auto& one) { return one->key; });
  if (found != prepared_.end()) {
    prepared_.splice(prepared_.begin(), prepared_, found);
    return prepared_.front();
  }
  // A budget holds for all shapes together.
  const bool has_budget =
      shared_.options.session.memory_budget > 0 || shared_.options.session.weights_budget > 0;
  const size_t most = has_budget ? 1 : shared_.options.session.cached_shapes;
  while (prepared_.size() >= most) prepared_.pop_back();
  prepared_.push_front(prepare(inputs, std::move(key), measures_times));
  return prepared_.front();
}

std::shared_ptr<RunningNetwork::Prepared> RunningNetwork::prepare(const std::vector<Input>& inputs,
                                                                  std::string key, bool measures_times) {
  SessionOptions options = shared_.options.session;
  options.profile = measures_times;
  options.memory_pool = shared_.pool;
  options.cached_shapes = 1;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorInfo& input = model_.inputs()[i];
    options.input_shapes[input.name] = inputs[i].shape;
    if (!input.decides_shapes) continue;
    Tensor values(input.dtype, inputs[i].shape, borrowed(inputs[i].data));
    values.mutable_data();
    options.input_values.emplace(input.name, std::move(values));
  }
  Session session(shared_.device, model_, options);
  return std::make_shared<Prepared>(std::move(key), std::move(session), measures_times);
}

// Returns false, with nothing computed, if the run has no device tensor that can be bound.
bool RunningNetwork::run_bound(Prepared& prepared, std::span<const InputValues> inputs,
                               std::span<const OutputValues> outputs) {
  const auto is_on_device = [](const auto& one) { return find_device_memory(one.values.data()).has_value(); };
  if (std::ranges::none_of(inputs, is_on_device) && std::ranges::none_of(outputs, is_on_device)) return false;
  const std::lock_guard lock(prepared.session_mutex);
  if (!prepared.bound_runs) {
    std::vector<bool> decides_shapes;
    for (const TensorInfo& input : model_.inputs()) decides_shapes.push_back(input.decides_shapes);
    prepared.bound_runs.emplace(prepared.session, shared_.device, decides_shapes);
  }
  const bool done = prepared.bound_runs->run(inputs, outputs);
  if (!prepared.bound_runs->news().empty()) log_line(shared_.logger, prepared.bound_runs->news());
  return done;
}

void RunningNetwork::run(OrtKernelContext& context) {
  process_.check();
  const std::vector<Input> inputs = read_inputs(context);
  const std::shared_ptr<Prepared> prepared = prepared_for(inputs);
  std::vector<InputValues> values;
  for (size_t i = 0; i < inputs.size(); ++i)
    values.push_back({model_.inputs()[i].name,
                      {static_cast<const std::byte*>(inputs[i].data), inputs[i].bytes},
                      inputs[i].shape});
  std::vector<OutputValues> results;
  std::vector<size_t> late;
  for (size_t i = 0; i < prepared->outputs.size(); ++i) {
    const TensorInfo& output = prepared->outputs[i];
    if (!is_known(output.shape)) {
      late.push_back(i);
      continue;
    }
    void* memory = output_memory(context, output_positions_[i], output.shape);
    results.push_back({output.name, {static_cast<std::byte*>(memory), memory ? byte_size(output) : 0}});
  }
  Run run;
  if (prepared->measures_times) {
    run_measured(prepared->session, values, results, run);
  } else if (!late.empty() || !run_bound(*prepared, values, results)) {
    const std::shared_lock lock(prepared->session_mutex);
    run = prepared->session.submit(values, results);
    run.wait();
  }
  for (const size_t i : late) {
    const Tensor output = run.output(prepared->outputs[i].name);
    void* memory = output_memory(context, output_positions_[i], output.shape());
    if (output.byte_size() > 0) std::memcpy(memory, output.data(), output.byte_size());
  }
}

void RunningNetwork::run_measured(Session& session, std::span<const InputValues> inputs,
                                  std::span<const OutputValues> outputs, Run& run) {
  const std::lock_guard lock(profile_mutex_);
  const auto submitted = DeviceEvents::Clock::now();
  run = session.submit(inputs, outputs);
  run.wait();
  profile_page_.write(session, name_, shared_.device);
  if (shared_.events->are_wanted()) shared_.events->add(submitted, session.layer_times());
}

}  // namespace vellum::ort
