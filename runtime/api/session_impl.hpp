// The members of a session, for the files session*.cpp and submit.cpp.
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
#include "exec/state_memory.hpp"
#include "graph/state_pairs.hpp"
#include "platform/progress.hpp"
#include "vellum/vulkan.hpp"

namespace vellum {

struct WholeInputs;

// Throws Error(invalid_argument) for a null handle.
void check_semaphores(const SubmitSemaphores& semaphores);
// Throws the Error for an input that was not `what`: "set" or "given".
[[noreturn]] void refuse_missing(const TensorInfo& input, const char* what);

// The input shapes, and the values of inputs that decide shapes, for which executors are prepared.
struct InputKey {
  std::vector<Shape> shapes;
  std::map<size_t, Tensor> values;  // values of the inputs that decide shapes

  bool operator==(const InputKey& other) const;
};

struct Session::Impl {
  // The executors of one compiled model, one for each run in flight.
  using Executors = std::vector<std::unique_ptr<Executor>>;

  Device device;
  Model model;
  SessionOptions options;
  // The states, as positions in `inputs` and `outputs`, and as states() lists them.
  std::vector<StatePair> states;
  std::vector<StateInfo> state_infos;
  // The memory of the states, made with the first executors. Null without states.
  std::shared_ptr<StateMemory> state;
  // With growing caches (SessionOptions::state_capacity): the number of tokens in them after all submitted
  // runs, and the number that the next run adds.
  int64_t cached_tokens = 0, new_tokens = 0;
  // Counts everything that the session allocates from Vulkan. Null without SessionOptions::memory_budget.
  std::shared_ptr<gpu::MemoryBudget> memory_budget;
  // The source of weights. With a memory budget it is null until the session is ready, because the input
  // shapes decide how the budget is divided.
  std::shared_ptr<WeightSource> weights;
  // The memory of intermediate tensors, one pool for each run in flight: SessionOptions::memory_pool, or
  // pools of the session's own. Executors for all shapes share it.
  std::vector<std::shared_ptr<ArenaPool>> pools;
  // The executors for the most recent combinations of input shapes and of values that decide shapes, the
  // newest first. The queue assigns them to requests.
  std::list<std::pair<InputKey, Executors>> executors;
  std::vector<TensorInfo> inputs, outputs;
  std::vector<std::string> warnings;
  // Holds all requests of this session. Its lock guards all members here against other threads that submit.
  std::shared_ptr<RequestQueue> queue;
  // The request that set_input(), run() and output() use. Null before the session is ready, and after
  // submit(), which may need its executor.
  Request* own_request = nullptr;
  // The network of the last run, if that run was recorded by the application.
  std::shared_ptr<RecordedNetwork> last_recording;
  // Detects concurrent calls. Mutable because const functions wait for runs, too.
  mutable SessionUses uses;
  // True while a submit() prepares the session for other shapes. It holds the queue's lock for all of this
  // time.
  std::atomic<bool> is_switching = false;
  // True while run_steps() calls the application's function, which must not call the session.
  bool is_running_steps = false;
  // Inputs that `own_request` does not hold yet, because their shapes differ from its executor's or because
  // it is null.
  std::map<size_t, Tensor> staged;

  // Progress of create_async() while the constructor runs, otherwise null.
  Progress* progress = nullptr;

  Impl(const Device& target, const Model& source, const SessionOptions& session_options,
       Progress* creation = nullptr);
  ~Impl();

  bool is_ready() const { return !executors.empty(); }
  // Returns the executor for the newest shapes. Throws Error(invalid_argument) if the session is not ready.
  Executor& first_executor() const;
  // Waits for all submitted runs.
  RequestQueue::Lock drained() const;

  // Returns whether the values of an input are known without set_input(): the program holds them as a
  // constant, or SessionOptions::input_values has them.
  bool has_known_values(size_t index) const;
  // Returns the values of an input that decides shapes if they are known without set_input(), otherwise
  // nothing.
  std::optional<Tensor> known_values(size_t index) const;
  bool is_prepared_for(size_t index, std::span<const std::byte> values) const;
  // Returns the key of the next run(). Throws Error(invalid_argument) if the values of an input that decides
  // shapes are missing.
  InputKey wanted_key() const;
  Executors make_executors(const InputKey& key);
  Executors make_executors(const std::shared_ptr<const CompiledModel>& compiled);
  Executors make_executors_within_budget(const RequestQueue::Lock& lock, const InputKey& key);
  Executors make_executors_or_free_others(const RequestQueue::Lock& lock, const InputKey& key);
  // Strong guarantee: if it throws, only cached executors have changed. Requires that no request is in
  // flight.
  void switch_to(const RequestQueue::Lock& lock, const InputKey& key);

  // Returns own_request, made if it is null. Throws Error(invalid_argument) if the session is not ready.
  // Requires that no request is in flight.
  Request& own(const RequestQueue::Lock& lock);
  // Returns the executor of the last run(). Throws Error(invalid_argument), which names the output, if there
  // are no outputs to read.
  const Executor& finished_run(size_t output) const;
  // Releases own_request. Inputs that keep their shapes are staged.
  void release_own_request(const RequestQueue::Lock& lock, const InputKey& next);
  bool has_input(size_t index) const;
  bool is_state_input(size_t index) const;
  bool is_state_output(size_t index) const;
  // Throw Error(invalid_argument) for an input or output that is state.
  void require_no_state_input(size_t index) const;
  void require_no_state_output(size_t index) const;
  // Throws Error(invalid_argument) for options that exclude state.
  void check_state_options() const;
  // Makes the memory of the states for the first program, or checks that a later one fits it.
  void prepare_state(const Program& program);
  void reset_state();
  // Counts the tokens of a run that is about to begin. Throws Error(invalid_argument) if they exceed the
  // capacity of the caches. steps: as many runs, one after another.
  void append_tokens(uint32_t steps = 1);
  // Returns whether the state is the number of tokens in growing caches. Throws Error(invalid_argument) for a
  // number that they cannot hold.
  bool is_cache_length(size_t index, const Tensor& tensor) const;
  // Reads the number of tokens from the state.
  void count_cached_tokens();
  void update_state_infos();
  // Returns the index of a state. Throws Error(not_found) for a name that is none, Error(invalid_argument)
  // before the session is prepared.
  size_t state_position(std::string_view name) const;
  void set_input(const RequestQueue::Lock& lock, size_t index, const Tensor& tensor);
  // Sets an input that decides shapes.
  void set_shape_input(size_t index, const Tensor& tensor);
  // Throws Error(invalid_argument) for values that SessionOptions::check_finite forbids.
  void check_input_values(size_t index, std::span<const std::byte> values) const;
  void run();
  // Returns whether run() accepts the recording: its unbound inputs and outputs must belong to own_request.
  bool is_runnable(const RequestQueue::Lock& lock, const RecordedNetwork& recording);
  void run(const std::shared_ptr<RecordedNetwork>& recording);
  // Throws Error(unsupported) for options with which no inference can be recorded.
  void check_recordable_options() const;
  // Makes the session ready for the loop, and returns own_request. Throws Error(invalid_argument) for the
  // steps of another session.
  Request& request_of(const RequestQueue::Lock& lock, const BoundSteps& steps);
  void set_step_input(const RequestQueue::Lock& lock, BoundSteps& steps, const std::string& name,
                      const Tensor& tensor);
  StepResults run_steps(BoundSteps& steps, const std::map<std::string, Tensor>& values,
                        const StepProgress& application_progress);
  // Updates the shapes of outputs that only a run determines.
  void update_output_shapes();
  uint64_t weights_bytes() const;

  bool is_prepared_for(std::span<const InputValues> values) const;
  InputKey key_of(std::span<const InputValues> values) const;
  void check_values(std::span<const InputValues> values) const;
  Request& begin_request(std::span<const InputValues> values);
  // Returns null if no request can begin at once. Does not wait.
  Request* try_begin_request(std::span<const InputValues> values);
  void set_targets(Request& request, std::span<const OutputValues> targets) const;
  void submit(Request& request, std::span<const InputValues> values, std::span<const OutputValues> targets,
              bool keep_outputs, const SubmitSemaphores& semaphores = {});
  WholeInputs with_whole_masks(std::span<const InputValues> given) const;
  // Returns the values of tensors. Throws Error(invalid_argument) where a dtype is not the input's.
  std::vector<InputValues> values_of(const std::map<std::string, Tensor>& tensors) const;
  void require_adopted_device() const;
};

}  // namespace vellum
