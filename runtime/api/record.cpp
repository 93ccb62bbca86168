// Inferences in the application's command buffers: the third part of Session.
#include <algorithm>

#include "api/guard.hpp"
#include "api/session_impl.hpp"
#include "exec/recording.hpp"
#include "vellum/vulkan.hpp"

namespace vellum {
namespace {

BufferLayout layout_of(const Executor& executor, const Port& port, const char* kind) {
  if (port.tensor == kNoTensor)
    throw Error(ErrorCode::unsupported,
                std::string(kind) + " '" + port.name + "' is " +
                    (port.constant ? "a constant: it has no buffer; read it with output()"
                                   : "computed on the host: it has no buffer"));
  const PortBuffer buffer = port_buffer(executor, port);
  const ElementType element = executor.program().tensors[port.tensor].desc.element;
  const DType dtype = element == ElementType::i32  ? DType::i32
                      : element == ElementType::u8 ? DType::u8
                                                   : DType::f32;
  return {dtype, buffer.bytes, buffer.alignment, buffer.usage};
}

BoundPort bound_port(const Executor& executor, const Port& port, const char* kind,
                     const BufferBinding& binding) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::invalid_argument, std::string(kind) + " '" + port.name + "': " + why);
  };
  const BufferLayout layout = layout_of(executor, port, kind);
  if (!binding.buffer) refuse("the buffer is null");
  if (binding.offset % layout.alignment != 0)
    refuse("the offset " + std::to_string(binding.offset) + " is not a multiple of " +
           std::to_string(layout.alignment));
  if (binding.bytes < layout.bytes)
    refuse("it takes " + std::to_string(layout.bytes) + " bytes with its padding, but " +
           std::to_string(binding.bytes) + " were given");
  return {executor.program().root(port.tensor), binding.buffer, binding.offset, layout.bytes};
}

bool overlap(const BoundPort& a, const BoundPort& b) {
  return a.buffer == b.buffer && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

// Binds what is listed, in the order of the list.
void bind_ports(std::vector<BoundPort>& bound, const Executor& executor, const std::vector<Port>& ports,
                const std::vector<TensorInfo>& infos, std::span<const BufferBinding> bindings,
                const char* kind) {
  for (size_t i = 0; i < bindings.size(); ++i) {
    const Port& port = ports[position(infos, bindings[i].name, kind)];
    const auto same_name = [&](const BufferBinding& other) { return other.name == port.name; };
    if (std::ranges::any_of(bindings.first(i), same_name))
      throw Error(ErrorCode::invalid_argument, std::string(kind) + " '" + port.name + "' is bound twice");
    bound.push_back(bound_port(executor, port, kind, bindings[i]));
  }
}

void check_distinct(const std::vector<BoundPort>& bound, size_t inputs) {
  for (size_t output = inputs; output < bound.size(); ++output)
    for (size_t other = 0; other < output; ++other)
      if (overlap(bound[output], bound[other]))
        throw Error(ErrorCode::invalid_argument,
                    "the range of an output overlaps that of another output or of an input");
}

}  // namespace

void check_semaphores(const SubmitSemaphores& semaphores) {
  for (const auto& list : {semaphores.wait, semaphores.signal})
    for (const SemaphoreValue& semaphore : list)
      if (!semaphore.semaphore) throw Error(ErrorCode::invalid_argument, "a semaphore is null");
}

void Session::Impl::require_adopted_device() const {
  if (!impl(device)->context->is_adopted())
    throw Error(
        ErrorCode::invalid_argument,
        "the device is Vellum's own, where no application has command buffers, buffers or semaphores: use "
        "Device::adopt()");
}

Recording Session::record(VkCommandBuffer commands, std::span<const BufferBinding> inputs,
                          std::span<const BufferBinding> outputs) {
  Recording recording = bind(inputs, outputs);
  recording.record(commands);
  return recording;
}

Recording Session::bind(std::span<const BufferBinding> inputs, std::span<const BufferBinding> outputs) {
  return guard([&] {
    const RequestQueue::Lock lock = impl_->drained();
    impl_->require_adopted_device();
    Executor& executor = impl_->first_executor();
    if (impl_->options.check_finite)
      throw Error(
          ErrorCode::unsupported,
          "the inference cannot be recorded: check_finite checks values on the host; use run() or submit()");
    check_recordable(executor);
    const Program& program = executor.program();
    std::vector<BoundPort> bound;
    bind_ports(bound, executor, program.inputs, impl_->inputs, inputs, "input");
    for (const Port& port : program.inputs)
      if (std::ranges::find(inputs, port.name, &BufferBinding::name) == inputs.end())
        throw Error(ErrorCode::invalid_argument, "input '" + port.name + "' is not bound");
    bind_ports(bound, executor, program.outputs, impl_->outputs, outputs, "output");
    check_distinct(bound, inputs.size());
    Recording recording;
    recording.network_ = std::make_shared<RecordedNetwork>(executor, bound);
    return recording;
  });
}

BufferLayout Session::input_buffer(std::string_view name) const {
  return guard([&] {
    const Executor& executor = impl_->first_executor();
    return layout_of(executor, executor.program().inputs[position(impl_->inputs, name, "input")], "input");
  });
}

BufferLayout Session::output_buffer(std::string_view name) const {
  return guard([&] {
    const Executor& executor = impl_->first_executor();
    return layout_of(executor, executor.program().outputs[position(impl_->outputs, name, "output")],
                     "output");
  });
}

void Recording::record(VkCommandBuffer commands) const {
  guard([&] {
    if (!network_)
      throw Error(ErrorCode::invalid_argument, "nothing is bound: Session::record() was not called");
    if (!commands) throw Error(ErrorCode::invalid_argument, "the command buffer is null");
    network_->record(commands);
  });
}

void Recording::submit(const SubmitSemaphores& semaphores) const {
  guard([&] {
    if (!network_)
      throw Error(ErrorCode::invalid_argument, "nothing is bound: Session::bind() was not called");
    check_semaphores(semaphores);
    network_->submit(semaphores);
  });
}

}  // namespace vellum
