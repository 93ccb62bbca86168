// The runs of an executor: submits steps, runs host partitions, and waits.
#include <algorithm>

#include "exec/executor.hpp"
#include "exec/host_partition.hpp"
#include "vellum/error.hpp"
#include "vulkan/context.hpp"

namespace vellum {

class Executor::StepProgress : public WeightStream::Progress {
 public:
  explicit StepProgress(std::vector<Step>& steps) : steps_(steps) {}
  void wait_for(size_t segment) override {
    for (Step& step : steps_)
      if (step.segment <= segment && step.fence) step.fence->wait();
  }
  bool has_run(size_t segment) const override {
    return std::all_of(steps_.begin(), steps_.end(), [&](const Step& step) {
      return step.segment > segment || !step.fence || step.fence->done();
    });
  }

 private:
  std::vector<Step>& steps_;
};

void Executor::run() {
  start();
  finish();
}

void Executor::start(const SubmitSemaphores& semaphores) {
  wait_for_submitted();  // what a run that an error cut short has left
  is_running_ = false;
  if (pipelines_.empty() && (!semaphores.wait.empty() || !semaphores.signal.empty()))
    throw Error(ErrorCode::unsupported, "the run has nothing for the device that could wait for a semaphore");
  const ArenaPool::Turn turn = pool_->turn();
  follow_measured_times();
  pool_->check_overlap(turn, *this);
  apply_placement(turn);
  is_running_ = true;
  try {
    begin_run(semaphores);
  } catch (...) {
    is_running_ = std::ranges::any_of(steps_, [](const Step& s) { return s.fence && s.fence->pending(); });
    throw;
  }
}

void Executor::begin_run(const SubmitSemaphores& semaphores) {
  is_ordered_ = !semaphores.wait.empty() || !semaphores.signal.empty();
  wait_first_.assign(semaphores.wait.begin(), semaphores.wait.end());
  signal_last_.assign(semaphores.signal.begin(), semaphores.signal.end());
  next_step_ = 0;
  cancelled_ = false;
  host_outputs_.clear();
  if (WeightStream* stream = tensors_.weights()->stream())
    run_streamed(*stream);
  else if (pool_->is_shared())
    submit_rest();
  else
    submit_ahead();
}

bool Executor::has_submitted_all() const {
  return next_step_ == steps_.size() || (cancelled_ && !is_ordered_);
}

// Whether the device may have the step beside what it has of this run.
bool Executor::has_room_for(const Step& step) const {
  if (options_.submits.milliseconds == 0 || is_ordered_) return true;
  double pending = 0;
  for (const Step& other : steps_)
    if (other.fence && !other.fence->done()) pending += other.milliseconds;
  return pending == 0 || pending + step.milliseconds <= options_.submits.milliseconds;
}

// Submits what precedes the next host partition, as far as the device may have it.
void Executor::submit_ahead() {
  for (; !has_submitted_all(); ++next_step_) {
    Step& step = steps_[next_step_];
    if (step.host || !has_room_for(step)) return;
    run_step(step, {});
  }
}

gpu::Fence* Executor::oldest_unfinished() const {
  for (const Step& step : steps_)
    if (step.fence && !step.fence->done()) return step.fence.get();
  return nullptr;
}

bool Executor::poll(HostWork host_work) {
  for (;;) {
    submit_ahead();
    if (oldest_unfinished()) return false;
    if (has_submitted_all()) return true;
    if (!steps_[next_step_].host) continue;  // there is room for it now
    if (host_work == HostWork::no) return false;
    run_step(steps_[next_step_], {});
    ++next_step_;
  }
}

bool Executor::wait_until(std::chrono::steady_clock::time_point deadline) {
  while (!poll()) {
    const gpu::Fence* const oldest = oldest_unfinished();  // may be done by now
    if (oldest && !oldest->wait_for(deadline - std::chrono::steady_clock::now())) return false;
  }
  return true;
}

// Waits where the device must do something first.
void Executor::submit_rest() {
  while (!has_submitted_all()) {
    submit_ahead();
    if (has_submitted_all()) break;
    if (gpu::Fence* const oldest = oldest_unfinished()) oldest->wait();
    if (!steps_[next_step_].host) continue;
    run_step(steps_[next_step_], {});
    ++next_step_;
  }
}

void Executor::finish() {
  submit_rest();
  wait_for_submitted();
  is_running_ = false;
  if (cancelled_) throw Error(ErrorCode::cancelled, "the run was cancelled");
  has_times_ = true;
  invalidate_outputs();
}

void Executor::invalidate_outputs() const {
  for (const Port& port : program().outputs)
    if (port.tensor != kNoTensor && !port.is_state) tensors_.buffer(port.tensor).invalidate();
}

void Executor::run_streamed(WeightStream& stream) {
  StepProgress progress(steps_);
  stream.begin_run();
  std::vector<const gpu::Semaphore*> wait;
  for (; next_step_ < steps_.size(); ++next_step_) {
    const size_t i = next_step_, segment = steps_[i].segment;
    const bool first = i == 0 || steps_[i - 1].segment != segment;
    const bool last = i + 1 == steps_.size() || steps_[i + 1].segment != segment;
    if (first)
      if (const gpu::Semaphore* arrived = stream.load(segment, progress)) wait.push_back(arrived);
    run_step(steps_[i], wait);
    if (!steps_[i].host) wait.clear();
    if (last) stream.load_ahead(segment, progress);
  }
  wait_for_submitted();
  stream.end_run();
}

void Executor::run_step(Step& step, std::span<const gpu::Semaphore* const> wait) {
  if (step.host) {
    wait_for_submitted();
    const HostPartition& partition = *program().tasks[step.first_task].host;
    std::vector<HostTensor> results =
        run_host_partition(context_, program(), partition, tensors_, options_.run_region);
    if (partition.has_run_time_shapes) host_outputs_ = std::move(results);
  } else {
    SubmitSemaphores semaphores{.wait = wait_first_};
    if (is_last_submit(step)) semaphores.signal = signal_last_;
    gpu::submit(*context_, *step.commands, *step.fence, {.wait = wait, .application = semaphores});
    wait_first_.clear();
  }
}

bool Executor::is_last_submit(const Step& step) const {
  const auto last = std::find_if(steps_.rbegin(), steps_.rend(), [](const Step& s) { return !s.host; });
  return &step == &*last;
}

void Executor::wait_for_submitted() {
  for (Step& step : steps_)
    if (step.fence && step.fence->pending()) step.fence->wait();
}

}  // namespace vellum
