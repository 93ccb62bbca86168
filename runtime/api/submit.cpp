// Runs in flight: the second half of Session.
#include <algorithm>
#include <utility>

#include "api/guard.hpp"
#include "api/session_impl.hpp"
#include "passes/passes.hpp"

namespace vellum {
namespace {

const InputValues& find(std::span<const InputValues> given, const std::string& name) {
  for (const InputValues& input : given)
    if (input.name == name) return input;
  throw Error(ErrorCode::invalid_argument, "input '" + name + "' was not given");
}

bool same(std::span<const int64_t> given, const Shape& shape) {
  return given.empty() || std::equal(given.begin(), given.end(), shape.begin(), shape.end());
}

}  // namespace

bool Session::Impl::has_shapes_of(std::span<const InputValues> given) const {
  return active() && std::all_of(inputs.begin(), inputs.end(), [&](const TensorInfo& input) {
           return same(find(given, input.name).shape, input.shape);
         });
}

void Session::Impl::activate(const RunsInFlight::Lock& lock, std::span<const InputValues> given) {
  InputShapes wanted;
  std::vector<Shape> shapes;
  for (const TensorInfo& input : inputs) {
    const std::span<const int64_t> shape = find(given, input.name).shape;
    shapes.push_back(shape.empty() ? input.shape : Shape(shape.begin(), shape.end()));
    wanted[input.name] = shapes.back();
  }
  check_input_shapes(model.impl()->graph, wanted);
  waiting.clear();
  activate(lock, shapes);
}

// In an executor of these inputs' shapes. While this thread waits for one to be free, others may have come
// with other shapes: all is looked at again.
RunInFlight& Session::Impl::begin_run(std::span<const InputValues> given) {
  for (const InputValues& input : given) position(model.inputs(), input.name, "input");
  RunsInFlight::Lock lock = runs->lock();
  for (;;) {
    if (!has_shapes_of(given)) {
      runs->settle(lock);
      activate(lock, given);
    }
    if (RunInFlight* run = runs->try_begin(lock)) {
      std::fill(input_set.begin(), input_set.end(), false);
      waiting.clear();
      outputs_taken = true;
      return *run;
    }
    runs->make_room(lock);
  }
}

RunInFlight& Session::Impl::submit(std::span<const InputValues> given, std::span<const OutputValues> to,
                                   bool keep) {
  RunInFlight& run = begin_run(given);
  try {
    const Program& program = run.executor().program();
    for (size_t i = 0; i < program.inputs.size(); ++i)
      run.executor().set_input(i, find(given, program.inputs[i].name).values);
    for (const OutputValues& output : to) {
      const size_t index = position(model.outputs(), output.name, "output");
      const Port& port = program.outputs[index];
      if (port.of_tail)
        throw Error(ErrorCode::invalid_argument, "only the run tells the shape of output '" + port.name +
                                                     "': it is kept, ask the run for it");
      check_byte_size("output", port.name, port.type, output.values.size());
      run.deliver(index, output.values);
    }
    if (keep) run.keep_outputs();
  } catch (...) {
    runs->abandon(run);
    throw;
  }
  runs->start(run);
  return run;
}

Run Session::submit(std::span<const InputValues> inputs, std::span<const OutputValues> outputs) {
  return guard([&] {
    Run run;
    run.run_ = &impl_->submit(inputs, outputs, false);
    run.runs_ = impl_->runs;
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
    run.run_ = &impl_->submit(values, {}, true);
    run.runs_ = impl_->runs;
    return run;
  });
}

Run::~Run() {
  if (run_) runs_->release(*run_);
}

Run::Run(Run&& other) noexcept : runs_(std::move(other.runs_)), run_(std::exchange(other.run_, nullptr)) {}

Run& Run::operator=(Run&& other) noexcept {
  std::swap(runs_, other.runs_);
  std::swap(run_, other.run_);
  return *this;
}

RunInFlight& Run::checked() const {
  if (!run_)
    throw Error(ErrorCode::invalid_argument, "there is no run to ask: nothing was submitted with it");
  return *run_;
}

bool Run::done() const {
  return guard([&] { return runs_->done(checked()); });
}

void Run::wait() const {
  guard([&] {
    RunInFlight& run = checked();
    runs_->wait(run);
  });
}

std::map<std::string, Tensor> Run::outputs() const {
  return guard([&] {
    RunInFlight& run = checked();
    const auto& kept = runs_->outputs(run);
    return std::map<std::string, Tensor>(kept.begin(), kept.end());
  });
}

Tensor Run::output(std::string_view name) const {
  return guard([&] {
    RunInFlight& run = checked();
    for (const auto& [known, tensor] : runs_->outputs(run))
      if (known == name) return tensor;
    throw Error(ErrorCode::not_found, "the run keeps no output '" + std::string(name) +
                                          "': the model has none, or it went to memory of the caller's");
  });
}

}  // namespace vellum
