// Runs in flight: the second half of Session.
#include <algorithm>
#include <utility>

#include "api/guard.hpp"
#include "api/session_impl.hpp"
#include "passes/passes.hpp"

namespace vellum {
namespace {

const InputValues& find(std::span<const InputValues> values, const std::string& name) {
  for (const InputValues& input : values)
    if (input.name == name) return input;
  throw Error(ErrorCode::invalid_argument, "input '" + name + "' was not given");
}

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

// On an executor for the shapes of these values. While this thread waits for a free executor, other threads
// may submit other shapes, so each round checks everything again.
Request& Session::Impl::begin_request(std::span<const InputValues> values) {
  for (auto input = values.begin(); input != values.end(); ++input) {
    const size_t index = position(model.inputs(), input->name, "input");
    if (std::any_of(values.begin(), input,
                    [&](const InputValues& other) { return other.name == input->name; }))
      throw Error(ErrorCode::invalid_argument, "input '" + std::string(input->name) + "' is given twice");
    check_input_values(index, input->values);
  }
  RequestQueue::Lock lock = queue->lock();
  for (;;) {
    if (!has_shapes_of(values)) {
      queue->drain(lock);
      switch_to(lock, shapes_of(values));
    }
    if (own_request) queue->release(lock, *std::exchange(own_request, nullptr));
    staged.clear();
    if (Request* request = queue->try_begin(lock)) return *request;
    queue->retire_oldest(lock);
  }
}

Request& Session::Impl::submit(std::span<const InputValues> values, std::span<const OutputValues> targets,
                               bool keep_outputs, const SubmitSemaphores& semaphores) {
  Request& request = begin_request(values);
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
    queue->cancel(request);
    throw;
  }
  queue->submit(request, semaphores);
  return request;
}

Run Session::submit(std::span<const InputValues> inputs, std::span<const OutputValues> outputs) {
  return guard([&] {
    Run run;
    run.request_ = &impl_->submit(inputs, outputs, false);
    run.queue_ = impl_->queue;
    return run;
  });
}

Run Session::submit(std::span<const InputValues> inputs, std::span<const OutputValues> outputs,
                    const SubmitSemaphores& semaphores) {
  return guard([&] {
    impl_->require_adopted_device();
    check_semaphores(semaphores);
    Run run;
    run.request_ = &impl_->submit(inputs, outputs, false, semaphores);
    run.queue_ = impl_->queue;
    return run;
  });
}

Run Session::submit(const std::map<std::string, Tensor>& inputs) {
  return guard([&] {
    std::vector<InputValues> values;
    for (const auto& [name, tensor] : inputs) {
      const DType wanted = impl_->model.inputs()[position(impl_->model.inputs(), name, "input")].dtype;
      if (tensor.dtype() != wanted)
        throw Error(ErrorCode::invalid_argument, "input '" + name + "' wants " +
                                                     std::string(vellum::name(wanted)) + " but got " +
                                                     std::string(vellum::name(tensor.dtype())));
      values.push_back({name, {tensor.data(), tensor.byte_size()}, tensor.shape()});
    }
    Run run;
    run.request_ = &impl_->submit(values, {}, true);
    run.queue_ = impl_->queue;
    return run;
  });
}

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
