#include "exec/runs_in_flight.hpp"

#include <algorithm>
#include <new>

namespace vellum {

RunInFlight* RunsInFlight::oldest() const {
  RunInFlight* first = nullptr;
  for (const auto& run : runs_)
    if (run->state_ != RunInFlight::State::home && (!first || run->number_ < first->number_))
      first = run.get();
  return first;
}

void RunsInFlight::free_executor(RunInFlight& run) {
  run.state_ = RunInFlight::State::home;
  free_.push_back(run.executor_);
  run.executor_ = nullptr;
  changed_.notify_all();
}

void RunsInFlight::use(const Lock&, std::span<const std::unique_ptr<Executor>> executors) {
  if (oldest()) throw Error(ErrorCode::internal, "executors are exchanged under a run in flight");
  free_.clear();
  for (const auto& executor : executors) free_.push_back(executor.get());
}

void RunsInFlight::settle(Lock& lock) {
  while (oldest()) make_room(lock);
}

void RunsInFlight::make_room(Lock& lock) {
  RunInFlight* const first = oldest();
  if (!first) return;
  if (first->state_ == RunInFlight::State::in_flight)
    take_home(lock, *first);
  else
    changed_.wait(lock);  // another thread is about it
}

RunInFlight* RunsInFlight::try_begin(const Lock&) {
  if (free_.empty()) return nullptr;
  auto unused = std::find_if(runs_.begin(), runs_.end(), [](const auto& run) { return !run->held_; });
  if (unused == runs_.end()) unused = runs_.insert(runs_.end(), std::make_unique<RunInFlight>());
  RunInFlight& run = **unused;
  run.executor_ = free_.back();
  free_.pop_back();
  run.state_ = RunInFlight::State::starting;
  run.number_ = begun_++;
  run.held_ = true;
  return &run;
}

void RunsInFlight::start(RunInFlight& run) {
  try {
    run.executor_->start();
  } catch (...) {
    abandon(run);
    throw;
  }
  const Lock held(mutex_);
  run.state_ = RunInFlight::State::in_flight;
  changed_.notify_all();
}

void RunsInFlight::forget(RunInFlight& run) {
  run.targets_.clear();
  run.kept_.clear();
  run.error_.reset();
  run.held_ = run.keep_ = false;
}

void RunsInFlight::abandon(RunInFlight& run) {
  const Lock held(mutex_);
  free_executor(run);
  forget(run);
}

// The lock is not held while the device or the host works.
void RunsInFlight::take_home(Lock& lock, RunInFlight& run) {
  run.state_ = RunInFlight::State::busy;
  lock.unlock();
  try {
    Executor& executor = *run.executor_;
    executor.finish();
    for (const auto& [output, to] : run.targets_) executor.output(output, to);
    const std::vector<Port>& outputs = executor.program().outputs;
    for (size_t i = 0; i < outputs.size(); ++i)
      if (run.keep_ || outputs[i].of_tail) run.kept_.emplace_back(outputs[i].name, executor.output(i));
  } catch (const Error& error) {
    run.error_ = error;
  } catch (const std::bad_alloc&) {
    run.error_ = Error(ErrorCode::out_of_memory, "the host is out of memory");
  } catch (const std::exception& error) {
    run.error_ = Error(ErrorCode::internal, error.what());
  }
  lock.lock();
  free_executor(run);
}

bool RunsInFlight::ready(Lock& lock, RunInFlight& run) {
  run.state_ = RunInFlight::State::busy;
  lock.unlock();
  bool ready = true;
  try {
    ready = run.executor_->poll();
  } catch (...) {
    // It shows again when the run is taken home, and stays with it.
  }
  lock.lock();
  run.state_ = RunInFlight::State::in_flight;
  changed_.notify_all();
  return ready;
}

bool RunsInFlight::done(RunInFlight& run) {
  Lock lock(mutex_);
  while (run.state_ != RunInFlight::State::home) {
    RunInFlight& first = *oldest();
    if (first.state_ != RunInFlight::State::in_flight || !ready(lock, first)) return false;
    if (first.state_ == RunInFlight::State::in_flight) take_home(lock, first);
  }
  return true;
}

// Those before it come first: a device works in order, and no wait is longer than that for one run.
void RunsInFlight::take_home_up_to(Lock& lock, const RunInFlight& run) {
  while (run.state_ != RunInFlight::State::home) make_room(lock);
}

void RunsInFlight::wait(RunInFlight& run) {
  Lock lock(mutex_);
  take_home_up_to(lock, run);
  if (run.error_) throw Error(*run.error_);
}

const RunsInFlight::KeptOutputs& RunsInFlight::outputs(RunInFlight& run) {
  wait(run);
  return run.kept_;
}

void RunsInFlight::release(RunInFlight& run) {
  Lock lock(mutex_);
  take_home_up_to(lock, run);
  forget(run);
}

}  // namespace vellum
