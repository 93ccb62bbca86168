#include "exec/executor.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>
#include <system_error>

#include "exec/host_values.hpp"
#include "exec/input_integers.hpp"
#include "exec/pipeline_keys.hpp"
#include "exec/poison.hpp"
#include "exec/submit_times.hpp"
#include "plan/dispatch_model.hpp"
#include "vellum/error.hpp"
#include "vulkan/context.hpp"

namespace vellum {

void check_byte_size(const char* kind, const std::string& port, const TensorType& type, size_t bytes) {
  const size_t wanted = static_cast<size_t>(element_count(type.shape)) * size_of(type.dtype);
  if (bytes != wanted)
    throw Error(ErrorCode::invalid_argument, std::string(kind) + " '" + port + "' is " +
                                                 std::string(name(type.dtype)) + " " + to_string(type.shape) +
                                                 ", which takes " + std::to_string(wanted) + " bytes, but " +
                                                 std::to_string(bytes) + " were given");
}

std::shared_ptr<const CompiledModel> compile_program(const std::shared_ptr<gpu::Context>& context,
                                                     Program program, const PlanMemoryOptions& options) {
  return std::make_shared<const CompiledModel>(
      compile_program(std::move(program), options, device_rules(context)));
}

Executor::Executor(std::shared_ptr<gpu::Context> context, std::shared_ptr<const CompiledModel> model,
                   const ExecutorOptions& options, std::shared_ptr<WeightSource> weights)
    : context_(std::move(context)),
      model_(std::move(model)),
      weights_(weights ? std::move(weights) : std::make_shared<WeightStore>(context_)),
      options_(options),
      pool_(options.pool ? options.pool : std::make_shared<ArenaPool>(context_)),
      tensors_(context_, program(), model_->plan, options.memory_budget, options.state),
      has_input_(std::make_shared<InputFlags>(program().inputs.size())),
      // Only a limit of time needs predictions.
      milliseconds_(options_.submits.milliseconds > 0
                        ? predicted_milliseconds(program(), model_->barriers, context_->caps())
                        : std::vector<double>(program().tasks.size(), 0.0)) {
  auto pipelines = make_pipelines();
  // Before the intermediates, so that by then the staging memory of their upload is free.
  tensors_.set_weights(weights_->acquire(program(), options_.progress));
  pipelines_ = pipelines.get();
  options_.progress = nullptr;
  dispatch_of_task_ = dispatches_of_tasks(program());
  if (options_.timestamps && gpu::timestamps_supported(*context_) && !pipelines_.empty())
    queries_ =
        std::make_unique<gpu::TimestampQueries>(context_, static_cast<uint32_t>(2 * program().tasks.size()));
  if (options_.poison_memory || context_->options().poison_memory)
    poison_ = std::make_unique<const Poison>(*model_);
  split_into_steps();
  try {
    apply_placement(pool_->turn());
  } catch (...) {
    pool_->exit(*this);
    throw;
  }
}

Executor::~Executor() {
  try {
    wait_for_submitted();  // nothing may be freed under a run that an error cut short
  } catch (const Error&) {
    // The device is lost or hangs: there is nothing left to wait for.
  }
  pool_->exit(*this);
}

void Executor::apply_placement(const ArenaPool::Turn& turn) {
  if (tensors_.has_objects() && pool_generation_ == pool_->generation(turn)) return;
  leave();
  if (!tensors_.weights()) tensors_.set_weights(weights_->acquire(program(), nullptr));
  tensors_.make_objects(pool_->enter(turn, *this, model_->plan.arenas));
  pool_generation_ = pool_->generation(turn);
  try {
    record_all();
  } catch (...) {
    leave();
    throw;
  }
}

void Executor::leave() noexcept {
  for (Step& step : steps_) step.commands.reset();
  sets_.reset();
  tensors_.drop_objects();
}

void Executor::trim(bool weights) {
  wait_for_submitted();
  const ArenaPool::Turn turn = pool_->turn();
  leave();
  if (weights && !streams_weights_) tensors_.set_weights(nullptr);
  pool_->free_unused(turn);
}

DeviceTensors Executor::complete_tensors() {
  const ArenaPool::Turn turn = pool_->turn();  // until the copy holds the objects
  apply_placement(turn);
  return tensors_;
}

AllocatedBytes Executor::allocated() const {
  AllocatedBytes bytes{.intermediates = pool_->bytes(), .in_out = tensors_.in_out_bytes()};
  for (const auto& arena : weight_arenas()) bytes.weights += arena->size();
  return bytes;
}

std::vector<std::shared_ptr<gpu::Arena>> Executor::weight_arenas() const {
  if (!tensors_.weights()) return {};
  return tensors_.weights()->arenas();
}

WeightBytes Executor::weight_bytes() const {
  return tensors_.weights() ? tensors_.weights()->bytes() : WeightBytes{};
}

// In a thread of its own, beside the packing of weights; later in this thread if the system refuses one.
std::future<Pipelines> Executor::make_pipelines() {
  const auto make = [this] {
    return context_->pipelines().prepare(pipeline_keys_for(milliseconds_),
                                         {tensors_.in_out_arena(), bound_images(program(), model_->plan)}, 0,
                                         options_.progress);
  };
  try {
    return std::async(std::launch::async, make);
  } catch (const std::system_error&) {
    return std::async(std::launch::deferred, make);
  }
}

std::vector<gpu::PipelineKey> Executor::pipeline_keys_for(const std::vector<double>& milliseconds) const {
  std::vector<gpu::PipelineKey> keys = pipeline_keys(program());
  const std::vector<uint32_t> parts = parts_of_tasks(program(), options_.submits, milliseconds);
  const std::vector<size_t> dispatch_of_task = dispatches_of_tasks(program());
  for (size_t t = 0; t < parts.size(); ++t)
    if (parts[t] > 1) keys[dispatch_of_task[t]].dispatch_base = true;
  return keys;
}

std::vector<int64_t> Executor::segments() const {
  const WeightStream* stream = tensors_.weights()->stream();
  return stream ? stream->segments() : std::vector<int64_t>{0};
}

void Executor::split_into_steps() {
  streams_weights_ = tensors_.weights()->stream() != nullptr;
  const std::vector<SubmitRange> submits =
      divide_into_submits(program(), segments(), options_.submits, milliseconds_);
  steps_.clear();
  for (const SubmitRange& range : submits) steps_.push_back({range, {}, {}});
  const bool is_measured = options_.submits.milliseconds > 0 && runs_to_measure_ > 0;
  submit_times_ = is_measured ? SubmitTimes::make(context_, submits) : nullptr;
}

// The predictions may be of another GPU's speed. A driver that does not compile the pipelines of divided
// dispatches keeps the division as it is.
void Executor::follow_measured_times() {
  if (!std::exchange(has_times_, false) || !submit_times_ || runs_to_measure_ == 0 || !tensors_.weights())
    return;
  --runs_to_measure_;
  const auto slower =
      slower_milliseconds(program(), segments(), options_.submits, milliseconds_, submit_times_->read());
  if (!slower) return;
  try {
    pipelines_ = context_->pipelines().prepare(pipeline_keys_for(*slower));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::device_lost) throw;
    runs_to_measure_ = 0;
    return;
  }
  leave();
  milliseconds_ = *slower;
  split_into_steps();
}

void Executor::record_all() {
  sets_ =
      std::make_unique<gpu::DescriptorSets>(make_descriptor_sets(context_, program(), tensors_, pipelines_));
  bool first = true;
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (steps_[i].host) continue;
    record(i, first, i + 1 == steps_.size() || steps_[i + 1].host);
    first = false;
  }
}

void Executor::record(size_t index, bool first, bool host_follows) {
  Step& step = steps_[index];
  step.commands = std::make_unique<gpu::CommandBuffer>(context_);
  if (!step.fence) step.fence = std::make_unique<gpu::Fence>(context_);
  gpu::CommandBuffer& commands = *step.commands;
  commands.begin();
  if (queries_ && first) queries_->reset(commands);
  if (submit_times_) submit_times_->begin(commands, index, first);
  const bool labels = context_->has_debug_labels();
  const TaskRecorder tasks{*model_,           tensors_,       pipelines_, *sets_,
                           dispatch_of_task_, queries_.get(), labels,     poison_.get()};
  // An earlier run may have written the states.
  const bool after_others = first && (pool_->is_shared() || !program().states.empty());
  for (size_t t = step.first_task; t < step.first_task + step.task_count; ++t)
    tasks.record(commands, t, after_others && t == step.first_task, step.workgroups ? &step : nullptr);
  if (submit_times_) submit_times_->end(commands, index);
  if (host_follows) commands.barrier(gpu::kComputeWrite, gpu::kHostRead);
  commands.end();
}

size_t Executor::dispatch_count() const { return pipelines_.size(); }

size_t Executor::barrier_count() const {
  return static_cast<size_t>(std::ranges::count_if(model_->barriers, &TaskSync::needs_command));
}

size_t Executor::pipeline_count() const {
  return std::set<std::shared_ptr<const gpu::Pipeline>>(pipelines_.begin(), pipelines_.end()).size();
}

void Executor::set_input(size_t index, const HostTensor& tensor) {
  const Port& port = program().inputs.at(index);
  if (tensor.type() != port.type)
    throw Error(ErrorCode::invalid_argument,
                "input '" + port.name + "' wants " + std::string(name(port.type.dtype)) + " " +
                    to_string(port.type.shape) + " but got " + std::string(name(tensor.dtype())) + " " +
                    to_string(tensor.shape()));
  set_input(index, std::span(tensor.data(), tensor.byte_size()));
}

void Executor::set_input(size_t index, std::span<const std::byte> values) {
  const Port& port = program().inputs.at(index);
  if (port.is_state) throw Error(ErrorCode::internal, "input '" + port.name + "' is state");
  check_byte_size("input", port.name, port.type, values.size());
  if (!port.constant) check_integers(port, values);
  (*has_input_)[index] = true;
  if (port.constant) {
    if (!values.empty() && std::memcmp(values.data(), port.constant->data(), values.size()) != 0)
      throw Error(ErrorCode::internal, "input '" + port.name + "' decides shapes and has other values now");
    return;
  }
  const gpu::Buffer& buffer = tensors_.buffer(port.tensor);
  write_linear(program().tensors[port.tensor].desc, port.type.dtype, values, {buffer.data(), buffer.size()});
  buffer.flush();
}

void Executor::forget_inputs() {
  for (std::atomic<bool>& flag : *has_input_) flag = false;
}

HostTensor Executor::read(const Port& port) const {
  if (port.constant) return *port.constant;
  const gpu::Buffer& buffer = tensors_.buffer(port.tensor);
  return read_linear(program().tensors[port.tensor].desc, port.type, {buffer.data(), buffer.size()});
}

const HostTensor& Executor::host_output(const Port& port) const {
  if (host_outputs_.empty())
    throw Error(ErrorCode::invalid_argument,
                "output '" + port.name + "' is known only after a run that came to its end");
  return host_outputs_.at(*port.host_output);
}

HostTensor Executor::output(size_t index) const {
  const Port& port = program().outputs.at(index);
  return port.host_output ? host_output(port) : read(port);
}

void Executor::output(size_t index, std::span<std::byte> to) const {
  const Port& port = program().outputs.at(index);
  const HostTensor* known = port.host_output ? &host_output(port) : port.constant ? &*port.constant : nullptr;
  check_byte_size("output", port.name, known ? known->type() : port.type, to.size());
  if (known) {
    if (!to.empty()) std::memcpy(to.data(), known->data(), to.size());
    return;
  }
  const gpu::Buffer& buffer = tensors_.buffer(port.tensor);
  read_linear(program().tensors[port.tensor].desc, port.type.dtype, {buffer.data(), buffer.size()}, to);
}

const TensorType& Executor::output_type(size_t index) const {
  const Port& port = program().outputs.at(index);
  return port.host_output && !host_outputs_.empty() ? host_outputs_.at(*port.host_output).type() : port.type;
}

HostTensor Executor::input(size_t index) const { return read(program().inputs.at(index)); }

std::vector<Executor::TaskSpan> Executor::task_spans() const {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  std::vector<TaskSpan> spans(program().tasks.size(), TaskSpan{kNone, kNone});
  if (!queries_) return spans;
  const std::vector<double> nanoseconds = queries_->read();
  double first = std::numeric_limits<double>::infinity();
  for (size_t t = 0; t < spans.size(); ++t)
    if (program().tasks[t].dispatch) first = std::min(first, nanoseconds[2 * t]);
  for (size_t t = 0; t < spans.size(); ++t)
    if (program().tasks[t].dispatch)
      spans[t] = {(nanoseconds[2 * t] - first) * 1e-6, (nanoseconds[2 * t + 1] - first) * 1e-6};
  return spans;
}

std::vector<double> Executor::task_milliseconds() const {
  std::vector<double> milliseconds;
  for (const TaskSpan& span : task_spans()) milliseconds.push_back(span.end_ms - span.begin_ms);
  return milliseconds;
}

}  // namespace vellum
