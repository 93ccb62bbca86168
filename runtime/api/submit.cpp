// Session::submit() and class Run: runs in flight.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "api/cache_capacity.hpp"
#include "api/guard.hpp"
#include "api/session_impl.hpp"
#include "passes/passes.hpp"
#include "platform/deadline.hpp"

namespace vellum {
namespace {

const InputValues* find_if_given(std::span<const InputValues> values, const TensorInfo& input) {
  const auto found =
      std::ranges::find_if(values, [&](const InputValues& given) { return input.has_name(given.name); });
  return found == values.end() ? nullptr : &*found;
}

const InputValues& find(std::span<const InputValues> values, const TensorInfo& input) {
  if (const InputValues* given = find_if_given(values, input)) return *given;
  refuse_missing(input, "given");
}

// The values of an input that decides shapes.
Tensor shape_input(const TensorInfo& input, const Shape& shape, std::span<const std::byte> values) {
  if (!is_known(shape))
    throw Error(ErrorCode::invalid_argument, "the shape of input '" + input.name + "' is open: give one");
  check_byte_size("input", input.name, {input.dtype, shape}, values.size());
  Tensor tensor(input.dtype, shape);
  if (!values.empty()) std::memcpy(tensor.mutable_data(), values.data(), values.size());
  return tensor;
}

// Sets a flag during its lifetime.
class Flagged {
 public:
  explicit Flagged(std::atomic<bool>& flag) : flag_(flag) { flag_ = true; }
  ~Flagged() { flag_ = false; }
  Flagged(const Flagged&) = delete;
  Flagged& operator=(const Flagged&) = delete;

 private:
  std::atomic<bool>& flag_;
};

}  // namespace

bool Session::Impl::is_prepared_for(std::span<const InputValues> values) const {
  if (!is_ready()) return false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const InputValues* given = find_if_given(values, inputs[i]);
    if (!given && (is_state_input(i) || has_known_values(i))) continue;
    const std::span<const int64_t> shape = find(values, inputs[i]).shape;
    if (!shape.empty() && !std::ranges::equal(shape, inputs[i].shape)) return false;
    if (inputs[i].decides_shapes && !is_prepared_for(i, given->values)) return false;
  }
  return true;
}

InputKey Session::Impl::key_of(std::span<const InputValues> values) const {
  InputKey key;
  InputShapes by_name;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorInfo& input = inputs[i];
    const InputValues* given = find_if_given(values, input);
    if (!given && !is_state_input(i) && !has_known_values(i)) find(values, input);
    const Shape shape =
        given && !given->shape.empty() ? Shape(given->shape.begin(), given->shape.end()) : input.shape;
    by_name[input.name] = shape;
    key.shapes.push_back(shape);
    if (!input.decides_shapes) continue;
    key.values.emplace(i, given ? shape_input(input, shape, given->values) : *known_values(i));
  }
  check_input_shapes(impl(model)->graph, by_name);
  return key;
}

void Session::Impl::check_values(std::span<const InputValues> values) const {
  for (auto input = values.begin(); input != values.end(); ++input) {
    const size_t index = position(model.inputs(), input->name, "input");
    require_no_state_input(index);
    if (std::any_of(values.begin(), input,
                    [&](const InputValues& other) { return model.inputs()[index].has_name(other.name); }))
      throw Error(ErrorCode::invalid_argument, "input '" + std::string(input->name) + "' is given twice");
    check_input_values(index, input->values);
  }
}

// Begins a request on an executor for the shapes of these values. While this thread waits for a free
// executor, other threads may submit other shapes. Therefore each iteration checks everything again.
Request& Session::Impl::begin_request(std::span<const InputValues> values) {
  check_values(values);
  RequestQueue::Lock lock = queue->lock();
  for (;;) {
    if (!is_prepared_for(values)) {
      queue->drain(lock);
      const InputKey key = key_of(values);
      const Flagged flagged(is_switching);
      switch_to(lock, key);
    }
    if (own_request) queue->release(lock, *std::exchange(own_request, nullptr));
    staged.clear();
    if (Request* request = queue->try_begin(lock)) return *request;
    queue->retire_oldest(lock);
  }
}

// Returns null if the lock is held for a long time. All other owners hold it only for microseconds.
Request* Session::Impl::try_begin_request(std::span<const InputValues> values) {
  check_values(values);
  RequestQueue::Lock lock = queue->try_lock();
  for (; !lock; lock = queue->try_lock()) {
    if (is_switching) return nullptr;
    std::this_thread::yield();
  }
  if (!is_prepared_for(values))
    throw Error(
        ErrorCode::invalid_argument,
        "the session is not prepared for the shapes of these inputs, or for values that decide shapes: call "
        "prepare() or submit() once");
  queue->retire_finished(lock);
  if (own_request) queue->release(lock, *std::exchange(own_request, nullptr));
  staged.clear();
  return queue->try_begin(lock);
}

// An output whose shape is known can be written to the caller's memory, wherever it is computed.
void Session::Impl::set_targets(Request& request, std::span<const OutputValues> targets) const {
  const Program& program = request.executor().program();
  for (const OutputValues& target : targets) {
    const size_t index = position(model.outputs(), target.name, "output");
    require_no_state_output(index);
    const Port& port = program.outputs[index];
    if (request.writes_output(index))
      throw Error(ErrorCode::invalid_argument, "output '" + port.name + "' is given twice");
    if (!is_known(port.type.shape))
      throw Error(ErrorCode::invalid_argument, "only the run determines the shape of output '" + port.name +
                                                   "': it is kept, ask the run for it");
    check_byte_size("output", port.name, port.type, target.values.size());
    request.write_output(index, target.values);
  }
}

void Session::Impl::submit(Request& request, std::span<const InputValues> values,
                           std::span<const OutputValues> targets, bool keep_outputs,
                           const SubmitSemaphores& semaphores) {
  try {
    const Program& program = request.executor().program();
    for (size_t i = 0; i < program.inputs.size(); ++i)
      if (find_if_given(values, model.inputs()[i]) ||
          (!program.inputs[i].constant && !program.inputs[i].is_state))
        request.set_input(i, find(values, model.inputs()[i]).values);
    set_targets(request, targets);
    if (keep_outputs) request.keep_outputs();
    if (options.check_finite) request.check_outputs();
    request.repeat_every(options.repeat_every);
    append_tokens();
  } catch (...) {
    queue->discard(request);
    throw;
  }
  queue->submit(request, semaphores);
}

WholeInputs Session::Impl::with_whole_masks(std::span<const InputValues> given) const {
  return WholeInputs(model.inputs(), given, options.state_capacity);
}

std::vector<InputValues> Session::Impl::values_of(const std::map<std::string, Tensor>& tensors) const {
  std::vector<InputValues> values;
  for (const auto& [name, tensor] : tensors) {
    const DType wanted = model.inputs()[position(model.inputs(), name, "input")].dtype;
    check_holds_values(name, tensor);
    if (tensor.dtype() != wanted)
      throw Error(ErrorCode::invalid_argument, "input '" + name + "' wants " +
                                                   std::string(vellum::name(wanted)) + " but got " +
                                                   std::string(vellum::name(tensor.dtype())));
    values.push_back({name, {tensor.data(), tensor.byte_size()}, tensor.shape()});
  }
  return values;
}

Run Session::submit(std::span<const InputValues> inputs, std::span<const OutputValues> outputs) {
  return guard([&] {
    const SessionUses::Shared use(checked().uses);
    const WholeInputs whole = checked().with_whole_masks(inputs);
    Request& request = checked().begin_request(whole.values);
    checked().submit(request, whole.values, outputs, false);
    return Run(checked().queue, &request);
  });
}

Run Session::submit(std::span<const InputValues> inputs, std::span<const OutputValues> outputs,
                    const SubmitSemaphores& semaphores) {
  return guard([&] {
    const SessionUses::Shared use(checked().uses);
    check_semaphores(semaphores);
    if (checked().options.repeat_every > 0 && !semaphores.signal.empty())
      throw Error(ErrorCode::unsupported,
                  "a run that signals a semaphore cannot be repeated: repeat_every must be 0");
    const WholeInputs whole = checked().with_whole_masks(inputs);
    Request& request = checked().begin_request(whole.values);
    checked().submit(request, whole.values, outputs, false, semaphores);
    return Run(checked().queue, &request);
  });
}

Run Session::submit(const std::map<std::string, Tensor>& inputs) {
  return guard([&] {
    const SessionUses::Shared use(checked().uses);
    const std::vector<InputValues> values = checked().values_of(inputs);
    const WholeInputs whole = checked().with_whole_masks(values);
    Request& request = checked().begin_request(whole.values);
    checked().submit(request, whole.values, {}, true);
    return Run(checked().queue, &request);
  });
}

Run Session::try_submit(std::span<const InputValues> inputs, std::span<const OutputValues> outputs) {
  return guard([&] {
    const SessionUses::Shared use(checked().uses);
    const WholeInputs whole = checked().with_whole_masks(inputs);
    Request* const request = checked().try_begin_request(whole.values);
    if (!request) return Run();
    checked().submit(*request, whole.values, outputs, false);
    return Run(checked().queue, request);
  });
}

Run Session::try_submit(const std::map<std::string, Tensor>& inputs) {
  return guard([&] {
    const SessionUses::Shared use(checked().uses);
    const std::vector<InputValues> values = checked().values_of(inputs);
    const WholeInputs whole = checked().with_whole_masks(values);
    Request* const request = checked().try_begin_request(whole.values);
    if (!request) return Run();
    checked().submit(*request, whole.values, {}, true);
    return Run(checked().queue, request);
  });
}

Run::Run(std::shared_ptr<RequestQueue> queue, Request* request)
    : queue_(std::move(queue)), request_(request) {}

Run::~Run() {
  if (request_) queue_->release(*request_);
}

Run::Run(Run&& other) noexcept
    : queue_(std::move(other.queue_)), request_(std::exchange(other.request_, nullptr)) {}

Run& Run::operator=(Run&& other) noexcept {
  std::swap(queue_, other.queue_);
  std::swap(request_, other.request_);
  return *this;
}

Request& Run::checked() const {
  if (!request_)
    throw Error(ErrorCode::invalid_argument, "there is no run to ask: nothing was submitted with it");
  return *request_;
}

bool Run::done() const {
  return guard([&] {
    Request& request = checked();  // checked first, because an invalid Run has no queue
    return queue_->done(request);
  });
}

void Run::wait() const {
  guard([&] {
    Request& request = checked();
    queue_->wait(request);
  });
}

bool Run::wait_for(std::chrono::nanoseconds timeout) const {
  return guard([&] {
    Request& request = checked();
    return queue_->wait_until(request, platform::deadline_after(timeout));
  });
}

void Run::cancel() const {
  guard([&] {
    Request& request = checked();
    queue_->cancel(request);
  });
}

std::map<std::string, Tensor> Run::outputs() const {
  return guard([&] {
    Request& request = checked();
    const auto& kept = queue_->outputs(request);
    return std::map<std::string, Tensor>(kept.begin(), kept.end());
  });
}

Tensor Run::output(std::string_view name) const {
  return guard([&] {
    Request& request = checked();
    const std::string_view tensor_name = queue_->output_name(name);
    for (const auto& [known, tensor] : queue_->outputs(request))
      if (known == tensor_name) return tensor;
    throw Error(ErrorCode::not_found, "the run keeps no output '" + std::string(name) +
                                          "': the model has none, or it went to memory of the caller's");
  });
}

}  // namespace vellum
