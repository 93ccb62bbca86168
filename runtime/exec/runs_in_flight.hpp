// Several inferences of one network at once, each in an executor of its own: with inputs, outputs,
// intermediate tensors and commands of its own; weights and pipelines are shared.
//
// There are no threads here: a run is submitted by who begins it, and taken home (its outputs read, its
// executor given back) by whoever first waits for it or needs its place. Runs are taken home in the order in
// which they began.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "exec/executor.hpp"
#include "vellum/error.hpp"

namespace vellum {

// One inference. It belongs to who began it until release(); then it may stand for another.
class RunInFlight {
 public:
  // Before start(): for its inputs.
  Executor& executor() const { return *executor_; }
  // Before start(): where an output goes, by its position. The memory is written until the run is home.
  void deliver(size_t output, std::span<std::byte> to) { targets_.emplace_back(output, to); }
  // Before start(): all outputs are kept, not only those whose shape the run tells.
  void keep_outputs() { keep_ = true; }

 private:
  friend class RunsInFlight;
  enum class State : uint8_t { starting, in_flight, busy, home };

  Executor* executor_ = nullptr;
  State state_ = State::home;
  uint64_t number_ = 0;  // counts in the order of beginning
  bool held_ = false, keep_ = false;
  std::vector<std::pair<size_t, std::span<std::byte>>> targets_;
  std::vector<std::pair<std::string, HostTensor>> kept_;
  std::optional<Error> error_;
};

class RunsInFlight {
 public:
  using Lock = std::unique_lock<std::mutex>;
  using KeptOutputs = std::vector<std::pair<std::string, HostTensor>>;

  RunsInFlight() = default;
  RunsInFlight(const RunsInFlight&) = delete;
  RunsInFlight& operator=(const RunsInFlight&) = delete;

  // All functions are thread-safe. Those that take the lock may let go of it for as long as they wait for the
  // device, but for use() and try_begin().
  Lock lock() { return Lock(mutex_); }
  // Takes all runs home; their errors stay with them.
  void settle(Lock& lock);
  // Each of these executors has room for one run at a time, from now on. Only where no run is in flight.
  void use(const Lock& lock, std::span<const std::unique_ptr<Executor>> executors);

  // Null where no executor is free. Else the run's inputs are set next, and then it is started, or abandoned
  // where they could not be set.
  RunInFlight* try_begin(const Lock& lock);
  // Takes the oldest run home, so that its executor is free.
  void make_room(Lock& lock);
  // Throws what submitting throws; then the run is none.
  void start(RunInFlight& run);
  void abandon(RunInFlight& run);

  // Whether wait() would return at once. Operators that run on the host are called here, where it is their
  // turn.
  bool done(RunInFlight& run);
  // Throws what went wrong in the run, each time.
  void wait(RunInFlight& run);
  // Waits. Those that were to be kept, and those whose shape only the run tells.
  const KeptOutputs& outputs(RunInFlight& run);
  // Waits. Whoever began the run does not look at it again.
  void release(RunInFlight& run);

 private:
  RunInFlight* oldest() const;
  bool ready(Lock& lock, RunInFlight& run);
  void take_home(Lock& lock, RunInFlight& run);
  void take_home_up_to(Lock& lock, const RunInFlight& run);
  void free_executor(RunInFlight& run);
  static void forget(RunInFlight& run);

  std::mutex mutex_;
  std::condition_variable changed_;  // the state of a run
  std::vector<Executor*> free_;
  std::vector<std::unique_ptr<RunInFlight>>
      runs_;  // all that there ever were at once, so that warm ones take no memory
  uint64_t begun_ = 0;
};

}  // namespace vellum
