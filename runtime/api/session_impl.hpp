// The members of a session, for session.cpp, session_shapes.cpp and submit.cpp.
#pragma once

#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "api/impl.hpp"
#include "api/session_use.hpp"
#include "api/tensor_names.hpp"
#include "exec/executor.hpp"
#include "exec/request_queue.hpp"
#include "platform/progress.hpp"
#include "vellum/vulkan.hpp"

namespace vellum {

// Error(invalid_argument) for a null handle.
void check_semaphores(const SubmitSemaphores& semaphores);

// A session prepares one executor for each of these.
struct InputKey {
  std::vector<Shape> shapes;
  std::map<size_t, Tensor> values;  // of the inputs that decide shapes

  bool operator==(const InputKey& other) const;
};

struct Session::Impl {
  // The executors of one compiled model, one for each run in flight.
  using Executors = std::vector<std::unique_ptr<Executor>>;

  Device device;
  Model model;
  SessionOptions options;
  // Counts all that the session allocates from Vulkan; null without SessionOptions::memory_budget.
  std::shared_ptr<gpu::MemoryBudget> memory_budget;
  // Null with a memory budget before the session is ready: the input shapes decide how it is spent.
  std::shared_ptr<WeightSource> weights;
  // The memory for intermediate tensors, for each run in flight: that of SessionOptions::memory_pool, or one
  // of its own, in which the executors for all shapes are.
  std::vector<std::shared_ptr<ArenaPool>> pools;
  // For each of the last combinations of input shapes and values that decide shapes, the newest first: those
  // of the queue.
  std::list<std::pair<InputKey, Executors>> executors;
  std::vector<TensorInfo> inputs, outputs;
  std::vector<std::string> warnings;
  // All requests of this session. Its lock guards all of this against other threads that submit.
  std::shared_ptr<RequestQueue> queue;
  // The request of set_input(), run() and output(). Null before the session is ready, and after submit(),
  // which may need its executor.
  Request* own_request = nullptr;
  // The network of the last run, if that run was recorded by the application.
  std::shared_ptr<RecordedNetwork> last_recording;
  // Of this session's functions; mutable: those that only read wait for runs, too.
  mutable SessionUses uses;
  // While a submit() prepares other shapes, which takes long, under the queue's lock.
  std::atomic<bool> is_switching = false;
  // Inputs that are not in the own request yet: they have other shapes than its executor, or there is none.
  std::map<size_t, Tensor> staged;

  // Progress of create_async(), while the constructor runs; null otherwise.
  Progress* progress = nullptr;

  Impl(const Device& target, const Model& source, const SessionOptions& session_options,
       Progress* creation = nullptr);
  ~Impl();

  bool is_ready() const { return !executors.empty(); }
  // The executor for the newest shapes. Error(invalid_argument) if the session is not ready.
  Executor& first_executor() const;
  // Waits for all submitted runs.
  RequestQueue::Lock drained() const;

  // Whether the input has values that are known without set_input(): they decide shapes, or are none.
  bool has_known_values(size_t index) const;
  // The values of an input that decides shapes, without set_input(); nothing if it needs them.
  std::optional<Tensor> known_values(size_t index) const;
  bool is_prepared_for(size_t index, std::span<const std::byte> values) const;
  // The key of the next run(). Throws Error(invalid_argument) for an input whose values decide shapes and are
  // missing.
  InputKey wanted_key() const;
  Executors make_executors(const InputKey& key) const;
  Executors make_executors(const std::shared_ptr<const CompiledModel>& compiled) const;
  Executors make_executors_within_budget(const RequestQueue::Lock& lock, const InputKey& key);
  Executors make_executors_or_free_others(const RequestQueue::Lock& lock, const InputKey& key);
  // Throws without changing anything but cached executors. No request is in flight.
  void switch_to(const RequestQueue::Lock& lock, const InputKey& key);

  // Error(invalid_argument) if the session is not ready. No request is in flight.
  Request& own(const RequestQueue::Lock& lock);
  // The executor of the last run(). Error(invalid_argument), naming the output, if its outputs are not there.
  const Executor& finished_run(size_t output) const;
  // Ends the own request. Inputs that keep their shapes are staged.
  void release_own_request(const RequestQueue::Lock& lock, const InputKey& next);
  bool has_input(size_t index) const;
  void set_input(const RequestQueue::Lock& lock, size_t index, const Tensor& tensor);
  // For inputs that decide shapes.
  void set_shape_input(size_t index, const Tensor& tensor);
  // Throws Error(invalid_argument) for values that SessionOptions::check_finite forbids.
  void check_input_values(size_t index, std::span<const std::byte> values) const;
  void run();
  // Whether run() takes it: its inputs and outputs are those of the own request.
  bool is_runnable(const RequestQueue::Lock& lock, const RecordedNetwork& recording);
  void run(const std::shared_ptr<RecordedNetwork>& recording);
  // For outputs whose shapes the run determines.
  void update_output_shapes();
  uint64_t weights_bytes() const;

  bool is_prepared_for(std::span<const InputValues> values) const;
  InputKey key_of(std::span<const InputValues> values) const;
  void check_values(std::span<const InputValues> values) const;
  Request& begin_request(std::span<const InputValues> values);
  // Does not wait; null where no request can begin.
  Request* try_begin_request(std::span<const InputValues> values);
  void set_targets(Request& request, std::span<const OutputValues> targets) const;
  void submit(Request& request, std::span<const InputValues> values, std::span<const OutputValues> targets,
              bool keep_outputs, const SubmitSemaphores& semaphores = {});
  // The values of tensors with the inputs' dtypes.
  std::vector<InputValues> values_of(const std::map<std::string, Tensor>& tensors) const;
  void require_adopted_device() const;
};

}  // namespace vellum
