// Session::record() and bind(): inferences in the application's command buffers.
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

void Session::Impl::check_recordable_options() const {
  if (options.check_finite)
    throw Error(
        ErrorCode::unsupported,
        "the inference cannot be recorded: check_finite checks values on the host; use run() or submit()");
  if (options.repeat_every > 0)
    throw Error(ErrorCode::unsupported,
                "the inference cannot be recorded: repeat_every repeats runs; use run() or submit()");
}

Recording Session::record(VkCommandBuffer commands, std::span<const BufferBinding> inputs,
                          std::span<const BufferBinding> outputs) {
  return record(commands, {.inputs = inputs, .outputs = outputs});
}

Recording Session::record(VkCommandBuffer commands, const NetworkBindings& bindings) {
  guard([&] { checked().require_adopted_device(); });
  Recording recording = bind(bindings);
  recording.record(commands);
  return recording;
}

Recording Session::bind(std::span<const BufferBinding> inputs, std::span<const BufferBinding> outputs) {
  return bind({.inputs = inputs, .outputs = outputs});
}

Recording Session::bind(const NetworkBindings& bindings) {
  return guard([&] {
    const SessionUses::Exclusive use(checked().uses);
    const RequestQueue::Lock lock = checked().drained();
    Executor& executor = bindings.rest_on_host ? checked().own(lock).executor() : checked().first_executor();
    checked().check_recordable_options();
    if (checked().new_tokens > 0)
      throw Error(ErrorCode::unsupported,
                  "the inference cannot be recorded: the session counts the tokens in its caches "
                  "(state_capacity); use bind_steps(), run() or submit()");
    check_recordable(executor);
    Recording recording;
    recording.network_ = std::make_shared<RecordedNetwork>(
        executor, bound_ports(executor, checked().inputs, checked().outputs, bindings));
    return recording;
  });
}

bool Session::Impl::is_runnable(const RequestQueue::Lock& lock, const RecordedNetwork& recording) {
  return is_ready() && staged.empty() && recording.is_of(own(lock).executor());
}

void Session::Impl::run(const std::shared_ptr<RecordedNetwork>& recording) {
  if (!recording->rest_on_host())
    throw Error(ErrorCode::invalid_argument,
                "the recording was bound without NetworkBindings::rest_on_host: use Recording::run()");
  const RequestQueue::Lock lock = drained();
  if (!is_runnable(lock, *recording))
    throw Error(ErrorCode::invalid_argument,
                "the recording is not of this session in its present shapes: bind again");
  Request& request = own(lock);
  const Program& program = request.executor().program();
  for (size_t i = 0; i < inputs.size(); ++i)
    if (const Port& port = program.inputs[i];
        !has_input(i) && (port.tensor == kNoTensor || !recording->replaces(program.root(port.tensor))))
      throw Error(ErrorCode::invalid_argument, "input '" + inputs[i].name + "' was neither set nor bound");
  queue->run_instead(lock, request, [&] {
    recording->run({});
    request.executor().invalidate_outputs();
  });
  last_recording = recording;
}

void Session::run(const Recording& recording) {
  guard([&] {
    if (!recording.network_)
      throw Error(ErrorCode::invalid_argument, "nothing is bound: Session::bind() was not called");
    const SessionUses::Exclusive use(checked().uses);
    checked().run(recording.network_);
  });
}

BufferLayout Session::input_buffer(std::string_view name) const {
  return guard([&] {
    const SessionUses::Exclusive use(checked().uses);
    const Executor& executor = checked().first_executor();
    return layout_of(executor, executor.program().inputs[position(checked().inputs, name, "input")], "input");
  });
}

BufferLayout Session::output_buffer(std::string_view name) const {
  return guard([&] {
    const SessionUses::Exclusive use(checked().uses);
    const Executor& executor = checked().first_executor();
    return layout_of(executor, executor.program().outputs[position(checked().outputs, name, "output")],
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
