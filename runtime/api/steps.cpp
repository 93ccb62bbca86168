// Session::bind_steps() and run_steps(): several runs, one after another on the device.
#include "vellum/steps.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "api/guard.hpp"
#include "api/session_impl.hpp"
#include "exec/recorded_steps.hpp"
#include "kernels/movement/step_end.hpp"
#include "plan/dispatch_model.hpp"

namespace vellum {

class BoundSteps {
 public:
  BoundSteps(InputKey prepared, Executor& executor, StepPorts ports, uint32_t steps, uint32_t per_submit)
      : key(std::move(prepared)), recorded(executor, std::move(ports), steps, per_submit) {}

  const InputKey key;
  RecordedSteps recorded;
};

namespace {

// Without a limit of the session's.
constexpr double kSubmitMilliseconds = 1000;

// Sets a flag during its lifetime.
class StepsUnderWay {
 public:
  explicit StepsUnderWay(bool& flag) : flag_(flag) { flag_ = true; }
  ~StepsUnderWay() { flag_ = false; }
  StepsUnderWay(const StepsUnderWay&) = delete;
  StepsUnderWay& operator=(const StepsUnderWay&) = delete;

 private:
  bool& flag_;
};

[[noreturn]] void refuse_steps(const std::string& why) {
  throw Error(ErrorCode::invalid_argument, "steps: " + why);
}

// Finds the ports that StepOptions names.
class StepNames {
 public:
  StepNames(const Program& program, const std::vector<TensorInfo>& inputs,
            const std::vector<TensorInfo>& outputs)
      : program_(program), inputs_(inputs), outputs_(outputs) {}

  size_t input(const std::string& name) {
    const size_t index = position(inputs_, name, "input");
    check(program_.inputs[index], "input");
    if (std::ranges::find(used_, index) != used_.end())
      refuse_steps("input '" + name + "' gets two values before a step");
    used_.push_back(index);
    return index;
  }
  size_t output(const std::string& name) const {
    const size_t index = position(outputs_, name, "output");
    check(program_.outputs[index], "output");
    return index;
  }
  StepPorts::Feedback feedback(const std::string& from, const std::string& to) {
    const StepPorts::Feedback pair{output(from), input(to)};
    const Port &a = program_.outputs[pair.output], &b = program_.inputs[pair.input];
    const TensorDesc &from_desc = program_.tensors[a.tensor].desc, &to_desc = program_.tensors[b.tensor].desc;
    if (a.type.dtype != b.type.dtype || from_desc.element != to_desc.element ||
        element_count(a.type.shape) != element_count(b.type.shape))
      refuse_steps("output '" + from + "' is " + to_string(a.type) + ", input '" + to + "' is " +
                   to_string(b.type) + ": only an equal number of equal values can be fed back");
    return pair;
  }

 private:
  void check(const Port& port, const char* kind) const {
    const std::string name = std::string(kind) + " '" + port.name + "'";
    if (port.is_state) refuse_steps(name + " is state, which continues by itself");
    if (port.tensor == kNoTensor) refuse_steps(name + " is known before the run: it is not on the device");
  }

  const Program& program_;
  const std::vector<TensorInfo>&inputs_, &outputs_;
  std::vector<size_t> used_;  // inputs
};

std::vector<int32_t> checked_end_values(const Port& output, const std::vector<int64_t>& values) {
  if (output.type.dtype != DType::i64 && output.type.dtype != DType::i32)
    refuse_steps("output '" + output.name + "' is " + to_string(output.type) +
                 ": only integers are compared with end values");
  if (values.empty() || values.size() > kMostEndValues)
    refuse_steps("there are " + std::to_string(values.size()) + " end values, not one to " +
                 std::to_string(kMostEndValues));
  std::vector<int32_t> result;
  for (const int64_t value : values) {
    if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max())
      refuse_steps("the end value " + std::to_string(value) + " exceeds 32 bits");
    result.push_back(static_cast<int32_t>(value));
  }
  return result;
}

StepPorts step_ports(const Program& program, const std::vector<TensorInfo>& inputs,
                     const std::vector<TensorInfo>& outputs, const StepOptions& options) {
  StepNames names(program, inputs, outputs);
  StepPorts ports;
  for (const auto& [output, input] : options.feedback)
    ports.feedback.push_back(names.feedback(output, input));
  for (const std::string& name : options.step_inputs) ports.inputs.push_back(names.input(name));
  for (const std::string& name : options.step_outputs) ports.outputs.push_back(names.output(name));
  if (!options.end_output.empty()) {
    ports.end_output = names.output(options.end_output);
    ports.end_values = checked_end_values(program.outputs[*ports.end_output], options.end_values);
  } else if (!options.end_values.empty()) {
    refuse_steps("there are end values, but no end_output");
  }
  return ports;
}

uint32_t steps_per_submit(const Executor& executor, const StepOptions& options, double limit) {
  if (options.steps_per_submit > 0) return options.steps_per_submit;
  const std::vector<double> times =
      predicted_milliseconds(executor.program(), executor.model().barriers, executor.context()->caps());
  const double step = std::accumulate(times.begin(), times.end(), 0.0);
  const double most = (limit > 0 ? limit : kSubmitMilliseconds) / std::max(step, 1e-6);
  return static_cast<uint32_t>(std::clamp(most, 1.0, static_cast<double>(options.steps)));
}

}  // namespace

StepLoop Session::bind_steps(const StepOptions& options) {
  return guard([&] {
    Impl& impl = checked();
    const SessionUses::Exclusive use(impl.uses);
    const RequestQueue::Lock lock = impl.drained();
    Executor& executor = impl.own(lock).executor();
    impl.check_recordable_options();
    check_recordable(executor);
    if (options.steps == 0) refuse_steps("there must be one at least");
    StepLoop loop;
    loop.steps_ = std::make_shared<BoundSteps>(
        impl.executors.front().first, executor,
        step_ports(executor.program(), impl.inputs, impl.outputs, options), options.steps,
        steps_per_submit(executor, options,
                         vellum::impl(impl.device)->submit_limits(impl.options).milliseconds));
    return loop;
  });
}

// Switches to the loop's shapes, and sets the inputs that are staged for them.
Request& Session::Impl::request_of(const RequestQueue::Lock& lock, const BoundSteps& steps) {
  for (const auto& [index, tensor] : staged)
    if (tensor.shape() != steps.key.shapes[index])
      throw Error(ErrorCode::invalid_argument,
                  "input '" + inputs[index].name + "' was set in the shape " + to_string(tensor.shape()) +
                      ", but the steps are bound for " + to_string(steps.key.shapes[index]));
  const bool is_cached =
      std::ranges::any_of(executors, [&](const auto& entry) { return entry.first == steps.key; });
  if (is_cached) switch_to(lock, steps.key);
  if (!is_cached || !steps.recorded.network().is_of(own(lock).executor()))
    throw Error(ErrorCode::invalid_argument,
                "the steps are not of this session, or it has dropped their shapes: bind again");
  for (const auto& [index, tensor] : staged) own(lock).set_input(index, tensor);
  staged.clear();
  return own(lock);
}

void Session::Impl::set_step_input(const RequestQueue::Lock& lock, BoundSteps& steps, const std::string& name,
                                   const Tensor& tensor) {
  const size_t index = position(model.inputs(), name, "input");
  const std::vector<size_t>& of_steps = steps.recorded.ports().inputs;
  const auto found = std::ranges::find(of_steps, index);
  if (found == of_steps.end()) return set_input(lock, index, tensor);
  check_holds_values(name, tensor);
  TensorType wanted{model.inputs()[index].dtype, steps.key.shapes[index]};
  wanted.shape.insert(wanted.shape.begin(), int64_t{steps.recorded.steps()});
  if (tensor.type() != wanted)
    throw Error(ErrorCode::invalid_argument, "the values of input '" + name + "' for all steps are " +
                                                 to_string(wanted) + ", but got " + to_string(tensor.type()));
  check_input_values(index, {tensor.data(), tensor.byte_size()});
  steps.recorded.set_input(static_cast<size_t>(found - of_steps.begin()), tensor);
}

StepResults Session::Impl::run_steps(BoundSteps& steps, const std::map<std::string, Tensor>& values,
                                     const StepProgress& application_progress) {
  RequestQueue::Lock lock = drained();
  for (const auto& [name, tensor] : values) set_step_input(lock, steps, name, tensor);
  Request& request = request_of(lock, steps);
  steps.recorded.check_inputs();
  const std::function<bool(uint32_t)> reported = [&](uint32_t done) {
    return !application_progress || call_application("the function that is told of progress",
                                                     [&] { return application_progress(done); });
  };
  append_tokens(steps.recorded.steps());
  last_recording.reset();
  queue->run_instead(lock, request, [&] {
    const StepsUnderWay under_way(is_running_steps);
    steps.recorded.run(reported);
    request.executor().invalidate_outputs();
  });
  count_cached_tokens();  // the loop may have ended earlier
  StepResults results{steps.recorded.steps_done(), steps.recorded.has_ended(), {}};
  const std::vector<size_t>& positions = steps.recorded.ports().outputs;
  for (size_t i = 0; i < positions.size(); ++i)
    results.outputs.emplace(outputs[positions[i]].name, steps.recorded.output(i));
  return results;
}

StepResults Session::run_steps(const StepLoop& loop, const std::map<std::string, Tensor>& inputs,
                               const StepProgress& progress) {
  return guard([&] {
    if (!loop.valid())
      throw Error(ErrorCode::invalid_argument, "nothing is bound: Session::bind_steps() was not called");
    const SessionUses::Exclusive use(checked().uses);
    return checked().run_steps(*loop.steps_, inputs, progress);
  });
}

}  // namespace vellum
