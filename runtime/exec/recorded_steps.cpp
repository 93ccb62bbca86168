#include "exec/recorded_steps.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "exec/binding_pipelines.hpp"
#include "exec/host_values.hpp"
#include "exec/input_integers.hpp"
#include "kernels/movement/step_end.hpp"
#include "vellum/error.hpp"
#include "vulkan/context.hpp"

namespace vellum {
namespace {

constexpr gpu::Scope kStepWrite = gpu::kComputeWrite | gpu::kTransferWrite;
constexpr gpu::Scope kCopies = gpu::kTransferRead | gpu::kTransferWrite;

StepControl step_control(const Executor& executor, const Port& output) {
  return {static_cast<uint32_t>(element_count(output.type.shape)),
          static_cast<uint32_t>(executor.dispatch_count())};
}

// The control buffer before the first step.
std::vector<uint32_t> initial_words(const Executor& executor, const StepControl& control) {
  std::vector<uint32_t> words(control.first_workgroup_count(), 0);
  for (const Task& task : executor.program().tasks)
    if (task.dispatch) std::ranges::copy(task.dispatch->workgroup_count, std::back_inserter(words));
  return words;
}

}  // namespace

StepEnd::StepEnd(const Executor& executor, const Port& output, std::span<const int32_t> end_values)
    : initial_(initial_words(executor, step_control(executor, output))),
      first_workgroup_count_(step_control(executor, output).first_workgroup_count()),
      control_(gpu::make_buffer(executor.context(), initial_.size() * sizeof(uint32_t),
                                gpu::MemoryKind::readback,
                                {gpu::MemoryCategory::in_out, executor.tensors().memory_budget()},
                                gpu::kStorageBuffer | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT)),
      dispatch_(end_steps(executor.context()->caps(), step_control(executor, output), end_values)),
      pipeline_{executor.context()->pipelines().get(two_buffers_key(executor.program(), dispatch_))},
      sets_(executor.context(), pipeline_) {
  sets_.write(0, std::array{executor.tensors().resource(output.tensor), gpu::BoundResource(control_)});
}

void StepEnd::reset() const {
  std::memcpy(control_.data(), initial_.data(), initial_.size() * sizeof(uint32_t));
  control_.flush();
}

void StepEnd::record(gpu::CommandBuffer& commands) const {
  commands.bind(*pipeline_.front(), sets_[0]);
  commands.push_constants(*pipeline_.front(), dispatch_.push_constants.bytes());
  commands.dispatch(dispatch_.workgroup_count);
  commands.barrier(gpu::kComputeWrite, gpu::kComputeReadWrite | gpu::kIndirectRead);
}

IndirectCounts StepEnd::counts() const { return {&control_, first_workgroup_count_ * sizeof(uint32_t)}; }

uint32_t StepEnd::word(size_t index) const {
  control_.invalidate();
  uint32_t value = 0;
  std::memcpy(&value, control_.data() + index * sizeof value, sizeof value);
  return value;
}

uint32_t StepEnd::steps() const { return word(StepControl::kSteps); }
bool StepEnd::has_ended() const { return word(StepControl::kEnded) != 0; }

RecordedSteps::RecordedSteps(Executor& executor, StepPorts ports, uint32_t steps, uint32_t steps_per_submit)
    : ports_(std::move(ports)),
      steps_(steps),
      steps_per_submit_(steps_per_submit),
      network_(executor, {.rest_on_host = true}),
      inputs_(make_values(executor, ports_.inputs, false)),
      outputs_(make_values(executor, ports_.outputs, true)) {
  if (ports_.end_output)
    end_.emplace(executor, executor.program().outputs[*ports_.end_output], ports_.end_values);
}

RecordedSteps::~RecordedSteps() {
  try {
    finish_submitted();  // nothing may be freed under a run that an error cut short
  } catch (const Error&) {
    // The device is lost or hangs: there is nothing left to wait for.
  }
}

std::vector<RecordedSteps::Values> RecordedSteps::make_values(const Executor& executor,
                                                              std::span<const size_t> positions,
                                                              bool outputs) {
  const Program& program = network_.model().program;
  std::vector<Values> values;
  for (const size_t position : positions) {
    const Port& port = (outputs ? program.outputs : program.inputs)[position];
    const uint64_t bytes = program.tensors[port.tensor].desc.byte_size();
    values.push_back({&port, bytes,
                      gpu::make_buffer(network_.context(), steps_ * bytes,
                                       outputs ? gpu::MemoryKind::readback : gpu::MemoryKind::upload,
                                       {gpu::MemoryCategory::in_out, executor.tensors().memory_budget()})});
  }
  return values;
}

const gpu::Buffer& RecordedSteps::buffer_of(const Port& port) const {
  return network_.tensors().buffer(port.tensor);
}

void RecordedSteps::set_input(size_t i, const HostTensor& values) {
  Values& input = inputs_[i];
  const TensorDesc& desc = network_.model().program.tensors[input.port->tensor].desc;
  const size_t step_bytes = values.byte_size() / steps_;
  for (uint32_t step = 0; step < steps_; ++step)
    check_integers(*input.port, {values.data() + step * step_bytes, step_bytes});
  for (uint32_t step = 0; step < steps_; ++step)
    write_linear(desc, values.dtype(), {values.data() + step * step_bytes, step_bytes},
                 {input.buffer.data() + step * input.bytes, input.bytes});
  input.buffer.flush();
  input.is_set = true;
}

void RecordedSteps::check_inputs() const {
  std::vector<TensorId> set;  // before each step
  for (const Values& input : inputs_) {
    if (!input.is_set)
      throw Error(ErrorCode::invalid_argument,
                  "the values of input '" + input.port->name + "' for the steps were not set");
    set.push_back(input.port->tensor);
  }
  network_.check_inputs(set);
}

// Everything that the steps before wrote is visible, and nothing reads what this step writes.
void RecordedSteps::record(gpu::CommandBuffer& commands, uint32_t step) const {
  if (!inputs_.empty()) {
    commands.barrier(kStepWrite, kCopies);
    for (const Values& input : inputs_)
      commands.copy(input.buffer, step * input.bytes, buffer_of(*input.port), 0, input.bytes);
  }
  network_.record(commands, end_ ? end_->counts() : IndirectCounts{});
  if (ports_.feedback.empty() && outputs_.empty() && !end_) return;
  commands.barrier(kStepWrite, kCopies | gpu::kComputeReadWrite);
  const Program& program = network_.model().program;
  for (const auto& [from, to] : ports_.feedback) {
    const gpu::Buffer& output = buffer_of(program.outputs[from]);
    commands.copy(output, 0, buffer_of(program.inputs[to]), 0,
                  program.tensors[program.outputs[from].tensor].desc.byte_size());
  }
  for (const Values& output : outputs_)
    commands.copy(buffer_of(*output.port), 0, output.buffer, step * output.bytes, output.bytes);
  if (end_) end_->record(commands);
}

std::vector<RecordedSteps::Submit> RecordedSteps::recorded() const {
  std::vector<Submit> submits;
  for (uint32_t step = 0; step < steps_;) {
    Submit& submit =
        submits.emplace_back(Submit{gpu::CommandBuffer(network_.context()), gpu::Fence(network_.context())});
    submit.commands.begin();
    for (const uint32_t end = std::min(step + steps_per_submit_, steps_); step < end; ++step)
      record(submit.commands, step);
    submit.commands.barrier(kStepWrite, gpu::kHostRead);
    submit.commands.end();
  }
  return submits;
}

void RecordedSteps::finish_submitted() {
  for (Submit& submit : submits_)
    if (submit.fence.pending()) submit.fence.wait();
}

void RecordedSteps::run(const std::function<bool(uint32_t)>& progress) {
  finish_submitted();
  if (submits_.empty()) submits_ = recorded();
  done_ = 0;
  if (end_) end_->reset();
  try {
    submit_and_wait(progress);
  } catch (...) {
    finish_submitted();
    throw;
  }
  for (const StepPorts::Feedback& pair : ports_.feedback)
    buffer_of(network_.model().program.inputs[pair.input]).invalidate();
}

void RecordedSteps::submit_and_wait(const std::function<bool(uint32_t)>& progress) {
  constexpr size_t kMostPending = 2;
  size_t submitted = 0;
  bool stopped = false;
  while (done_ < submitted || (!stopped && submitted < submits_.size())) {
    if (!stopped && submitted < submits_.size() && submitted < done_ + kMostPending) {
      Submit& next = submits_[submitted++];
      gpu::submit(*network_.context(), next.commands, next.fence);
      continue;
    }
    submits_[done_].fence.wait();
    ++done_;
    if (!stopped) stopped = has_ended() || (progress && !progress(steps_done()));
  }
}

uint32_t RecordedSteps::steps_done() const {
  if (end_) return end_->steps();
  return static_cast<uint32_t>(std::min<uint64_t>(steps_, uint64_t{done_} * steps_per_submit_));
}

HostTensor RecordedSteps::output(size_t i) const {
  const Values& output = outputs_[i];
  const TensorDesc& desc = network_.model().program.tensors[output.port->tensor].desc;
  Shape shape = output.port->type.shape;
  shape.insert(shape.begin(), int64_t{steps_done()});
  HostTensor values(output.port->type.dtype, shape);
  output.buffer.invalidate();
  if (values.byte_size() == 0) return values;
  const size_t step_bytes = values.byte_size() / steps_done();
  for (uint32_t step = 0; step < steps_done(); ++step)
    read_linear(desc, output.port->type.dtype, {output.buffer.data() + step * output.bytes, output.bytes},
                {values.mutable_data() + step * step_bytes, step_bytes});
  return values;
}

}  // namespace vellum
