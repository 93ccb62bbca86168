// Inferences in the application's command buffers: the third part of Session.
#include "api/bindings.hpp"
#include "api/guard.hpp"
#include "api/session_impl.hpp"
#include "exec/recording.hpp"
#include "vellum/vulkan.hpp"

namespace vellum {
void check_semaphores(const SubmitSemaphores& semaphores) {
  for (const auto& list : {semaphores.wait, semaphores.signal})
    for (const SemaphoreValue& semaphore : list)
      if (!semaphore.semaphore) throw Error(ErrorCode::invalid_argument, "a semaphore is null");
}

void Session::Impl::require_adopted_device() const {
  if (!impl(device)->context->is_adopted())
    throw Error(
        ErrorCode::invalid_argument,
        "the device is Vellum's own, where no application has command buffers: use Session::bind(), or "
        "Device::adopt()");
}

Recording Session::record(VkCommandBuffer commands, std::span<const BufferBinding> inputs,
                          std::span<const BufferBinding> outputs) {
  return record(commands, {.inputs = inputs, .outputs = outputs});
}

Recording Session::record(VkCommandBuffer commands, const NetworkBindings& bindings) {
  guard([&] { impl_->require_adopted_device(); });
  Recording recording = bind(bindings);
  recording.record(commands);
  return recording;
}

Recording Session::bind(std::span<const BufferBinding> inputs, std::span<const BufferBinding> outputs) {
  return bind({.inputs = inputs, .outputs = outputs});
}

Recording Session::bind(const NetworkBindings& bindings) {
  return guard([&] {
    const RequestQueue::Lock lock = impl_->drained();
    Executor& executor = impl_->first_executor();
    if (impl_->options.check_finite)
      throw Error(
          ErrorCode::unsupported,
          "the inference cannot be recorded: check_finite checks values on the host; use run() or submit()");
    check_recordable(executor);
    Recording recording;
    recording.network_ = std::make_shared<RecordedNetwork>(
        executor, bound_ports(executor, impl_->inputs, impl_->outputs, bindings));
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

void Recording::run(const SubmitSemaphores& semaphores) const {
  guard([&] {
    if (!network_)
      throw Error(ErrorCode::invalid_argument, "nothing is bound: Session::bind() was not called");
    check_semaphores(semaphores);
    network_->run(semaphores);
  });
}

}  // namespace vellum
