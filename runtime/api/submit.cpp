// Runs in flight: the second half of Session.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "api/guard.hpp"
#include "api/session_impl.hpp"
#include "passes/passes.hpp"
#include "platform/deadline.hpp"

namespace vellum {
namespace {

const InputValues& find(std::span<const InputValues> values, const std::string& name) {
  for (const InputValues& input : values)
    if (input.name == name) return input;
  throw Error(ErrorCode::invalid_argument, "input '" + name + "' was not given");
}

// Sets a flag as long as it lives.
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

bool Session::Impl::has_shapes_of(std::span<const InputValues> values) const {
  return is_ready() && std::ranges::all_of(inputs, [&](const TensorInfo& input) {
           const std::span<const int64_t> shape = find(values, input.name).shape;
           return shape.empty() || std::ranges::equal(shape, input.shape);
         });
}

std::vector<Shape> Session::Impl::shapes_of(std::span<const InputValues> values) const {
  InputShapes by_name;
  std::vector<Shape> shapes;
  for (const TensorInfo& input : inputs) {
    const std::span<const int64_t> shape = find(values, input.name).shape;
    shapes.push_back(shape.empty() ? input.shape : Shape(shape.begin(), shape.end()));
    by_name[input.name] = shapes.back();
  }
  check_input_shapes(impl(model)->graph, by_name);
  return shapes;
}

void Session::Impl::check_values(std::span<const InputValues> values) const {
  for (auto input = values.begin(); input != values.end(); ++input) {
    const size_t index = position(model.inputs(), input->name, "input");
    if (std::any_of(values.begin(), input,
                    [&](const InputValues& other) { return other.name == input->name; }))
      throw Error(ErrorCode::invalid_argument, "input '" + std::string(input->name) + "' is given twice");
    check_input_values(index, input->values);
  }
}

// On an executor for the shapes of these values. While this thread waits for a free executor, other threads
// may submit other shapes, so each round checks everything again.
Request& Session::Impl::begin_request(std::span<const InputValues> values) {
  check_values(values);
  RequestQueue::Lock lock = queue->lock();
  for (;;) {
    if (!has_shapes_of(values)) {
      queue->drain(lock);
      const std::vector<Shape> shapes = shapes_of(values);
      const Flagged flagged(is_switching);
      switch_to(lock, shapes);
    }
    if (own_request) queue->release(lock, *std::exchange(own_request, nullptr));
    staged.clear();
    if (Request* request = queue->try_begin(lock)) return *request;
    queue->retire_oldest(lock);
  }
}

// All other owners of the lock keep it for microseconds.
Request* Session::Impl::try_begin_request(std::span<const InputValues> values) {
  check_values(values);
  RequestQueue::Lock lock = queue->try_lock();
  for (; !lock; lock = queue->try_lock()) {
    if (is_switching) return nullptr;
    std::this_thread::yield();
  }
  if (!has_shapes_of(values))
    throw Error(
        ErrorCode::invalid_argument,
        "the session is not prepared for the shapes of these inputs: call prepare() or submit() once");
  queue->retire_finished(lock);
  if (own_request) queue->release(lock, *std::exchange(own_request, nullptr));
  staged.clear();
  return queue->try_begin(lock);
}

void Session::Impl::submit(Request& request, std::span<const InputValues> values,
                           std::span<const OutputValues> targets, bool keep_outputs,
                           const SubmitSemaphores& semaphores) {
  try {
    const Program& program = request.executor().program();
    for (size_t i = 0; i < program.inputs.size(); ++i)
      request.set_input(i, find(values, program.inputs[i].name).values);
    for (const OutputValues& target : targets) {
      const size_t index = position(model.outputs(), target.name, "output");
      const Port& port = program.outputs[index];
      if (port.host_output)
        throw Error(ErrorCode::invalid_argument, "only the run tells the shape of output '" + port.name +
                                                     "': it is kept, ask the run for it");
      check_byte_size("output", port.name, port.type, target.values.size());
      request.write_output(index, target.values);
    }
    if (keep_outputs) request.keep_outputs();
    if (options.check_finite) request.check_outputs();
  } catch (...) {
    queue->discard(request);
    throw;
  }
  queue->submit(request, semaphores);
}

std::vector<InputValues> Session::Impl::values_of(const std::map<std::string, Tensor>& tensors) const {
  std::vector<InputValues> values;
  for (const auto& [name, tensor] : tensors) {
    const DType wanted = model.inputs()[position(model.inputs(), name, "input")].dtype;
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
    Request& request = impl_->begin_request(inputs);
    impl_->submit(request, inputs, outputs, false);
    return Run(impl_->queue, &request);
  });
}

Run Session::submit(std::span<const InputValues> inputs, std::span<const OutputValues> outputs,
                    const SubmitSemaphores& semaphores) {
  return guard([&] {
    impl_->require_adopted_device();
    check_semaphores(semaphores);
    Request& request = impl_->begin_request(inputs);
    impl_->submit(request, inputs, outputs, false, semaphores);
    return Run(impl_->queue, &request);
  });
}

Run Session::submit(const std::map<std::string, Tensor>& inputs) {
  return guard([&] {
    const std::vector<InputValues> values = impl_->values_of(inputs);
    Request& request = impl_->begin_request(values);
    impl_->submit(request, values, {}, true);
    return Run(impl_->queue, &request);
  });
}

Run Session::try_submit(std::span<const InputValues> inputs, std::span<const OutputValues> outputs) {
  return guard([&] {
    Request* const request = impl_->try_begin_request(inputs);
    if (!request) return Run();
    impl_->submit(*request, inputs, outputs, false);
    return Run(impl_->queue, request);
  });
}

Run Session::try_submit(const std::map<std::string, Tensor>& inputs) {
  return guard([&] {
    const std::vector<InputValues> values = impl_->values_of(inputs);
    Request* const request = impl_->try_begin_request(values);
    if (!request) return Run();
    impl_->submit(*request, values, {}, true);
    return Run(impl_->queue, request);
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
  return guard([&] { return queue_->done(checked()); });
}

void Run::wait() const {
  guard([&] { queue_->wait(checked()); });
}

bool Run::wait_for(std::chrono::nanoseconds timeout) const {
  return guard([&] { return queue_->wait_until(checked(), platform::deadline_after(timeout)); });
}

void Run::cancel() const {
  guard([&] { queue_->cancel(checked()); });
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
    for (const auto& [known, tensor] : queue_->outputs(request))
      if (known == name) return tensor;
    throw Error(ErrorCode::not_found, "the run keeps no output '" + std::string(name) +
                                          "': the model has none, or it went to memory of the caller's");
  });
}

}  // namespace vellum
