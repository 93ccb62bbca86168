#include "bound_runs.hpp"

#include <algorithm>
#include <utility>

#include "api/impl.hpp"

namespace vellum::ort {
namespace {

constexpr size_t kMostRecordings = 8;  // an application alternates between a few sets of tensors
constexpr size_t kMostRefusals = 32;

// Returns a layout without usage for a tensor that has none, or other bytes on the device than on the host.
template <typename Layout>
BufferLayout layout_or_none(const TensorInfo& tensor, Layout&& layout) {
  try {
    BufferLayout found = layout(tensor.name);
    if (found.element == tensor.dtype && (tensor.dtype == DType::f32 || tensor.dtype == DType::i32))
      return found;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
  }
  return {};
}

void append(std::string& key, char kind, size_t tensor, const DevicePlace& place) {
  key += kind + std::to_string(tensor) + ' ' + std::to_string(place.block->number) + ' ' +
         std::to_string(place.offset) + '\n';
}

template <typename Values>
BufferBinding binding_of(const Values& values, const DevicePlace& place) {
  return {values.name, place.block->buffer.handle(), place.offset, (values.values.size() + 3) / 4 * 4};
}

bool contains(std::span<const BufferBinding> bindings, std::string_view name) {
  return std::ranges::any_of(bindings, [name](const BufferBinding& one) { return one.name == name; });
}

}  // namespace

BoundRuns::BoundRuns(Session& session, const Device& device, const std::vector<bool>& decides_shapes)
    : session_(session), device_(device) {
  for (size_t i = 0; i < session.inputs().size(); ++i)
    inputs_.push_back(decides_shapes[i] ? BufferLayout{}
                                        : layout_or_none(session.inputs()[i], [&](const auto& name) {
                                            return session.input_buffer(name);
                                          }));
  for (const TensorInfo& output : session.outputs())
    outputs_.emplace(output.name,
                     layout_or_none(output, [&](const auto& name) { return session.output_buffer(name); }));
}

std::optional<DevicePlace> BoundRuns::bindable(const BufferLayout& layout, const void* address) const {
  if (layout.usage == 0) return {};
  std::optional<DevicePlace> place = find_device_memory(address);
  if (!place || impl(place->block->device) != impl(device_) || place->offset % layout.alignment != 0)
    return {};
  return place;
}

BoundRuns::Bindings BoundRuns::find_bindings(std::span<const InputValues> inputs,
                                             std::span<const OutputValues> outputs) const {
  Bindings found;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (const auto place = bindable(inputs_[i], inputs[i].values.data())) {
      append(found.key, 'i', i, *place);
      found.inputs.push_back(binding_of(inputs[i], *place));
      found.blocks.push_back(place->block);
    }
  found.input_blocks = found.blocks.size();
  for (size_t i = 0; i < outputs.size(); ++i)
    if (const auto place = bindable(outputs_.at(std::string(outputs[i].name)), outputs[i].values.data())) {
      append(found.key, 'o', i, *place);
      found.outputs.push_back(binding_of(outputs[i], *place));
      found.blocks.push_back(place->block);
    }
  return found;
}

const Recording* BoundRuns::recording_for(const Bindings& bindings) {
  const auto known = std::ranges::find(recorded_, bindings.key, [](const Recorded& one) { return one.key; });
  if (known != recorded_.end()) {
    recorded_.splice(recorded_.begin(), recorded_, known);
    return &recorded_.front().recording;
  }
  if (std::ranges::find(refused_, bindings.key) != refused_.end()) return nullptr;
  NetworkBindings all{bindings.inputs, bindings.outputs};
  all.rest_on_host = true;
  try {
    recorded_.push_front({bindings.key, session_.bind(all)});
    news_ = "Vellum uses " + std::to_string(bindings.inputs.size()) + " inputs and " +
            std::to_string(bindings.outputs.size()) + " outputs in the application's memory";
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported && error.code() != ErrorCode::invalid_argument) throw;
    refused_.push_front(bindings.key);
    news_ = std::string("Vellum copies tensors of the application's memory: ") + error.what();
    if (refused_.size() > kMostRefusals) refused_.pop_back();
    return nullptr;
  }
  if (recorded_.size() > kMostRecordings) recorded_.pop_back();
  return &recorded_.front().recording;
}

bool BoundRuns::run(std::span<const InputValues> inputs, std::span<const OutputValues> outputs) {
  news_.clear();
  const Bindings bindings = find_bindings(inputs, outputs);
  if (bindings.key.empty()) return false;
  for (const InputValues& input : inputs)
    if (!contains(bindings.inputs, input.name)) session_.set_input(input.name, input.values);
  const Recording* const recording = recording_for(bindings);
  if (!recording) return false;
  for (size_t i = 0; i < bindings.input_blocks; ++i) bindings.blocks[i]->buffer.flush();
  session_.run(*recording);
  for (size_t i = bindings.input_blocks; i < bindings.blocks.size(); ++i)
    bindings.blocks[i]->buffer.invalidate();
  for (const OutputValues& output : outputs)
    if (output.values.data() && !contains(bindings.outputs, output.name))
      session_.output(output.name, output.values);
  return true;
}

}  // namespace vellum::ort
