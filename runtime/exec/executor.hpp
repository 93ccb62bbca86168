// Runs a compiled model: creates device objects, records command buffers, submits them. One thread at a time.
// Start reading here for execution.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compile/compile.hpp"
#include "exec/arena_pool.hpp"
#include "exec/device_tensors.hpp"
#include "exec/submit_times.hpp"
#include "exec/task_recorder.hpp"
#include "exec/weight_store.hpp"
#include "graph/operators/control/device_region.hpp"
#include "plan/submits.hpp"
#include "vulkan/commands.hpp"
#include "vulkan/pipeline.hpp"
#include "vulkan/timestamps.hpp"

namespace vellum {

struct ExecutorOptions {
  SubmitLimits submits = {};
  bool timestamps = false;
  bool poison_memory = false;    // see poison.hpp; ContextOptions::poison_memory does it, too
  Progress* progress = nullptr;  // counts pipelines during construction, and may cancel it
  // The memory for intermediate tensors. Null: the executor allocates its own.
  std::shared_ptr<ArenaPool> pool = nullptr;
  // The budget that inputs, outputs and staging memory count against, or null. `pool` and the source of
  // weights have their own references to a budget.
  std::shared_ptr<gpu::MemoryBudget> memory_budget = nullptr;
  // The memory of the program's states. Null: the executor allocates its own.
  std::shared_ptr<StateMemory> state = nullptr;
  // Runs the layers that follow operators with data-dependent shapes. Empty: the host runs them.
  RunRegion run_region = {};
};

// Allocated bytes by purpose. Weights and intermediates include memory that other executors share.
struct AllocatedBytes {
  uint64_t intermediates = 0, weights = 0, in_out = 0;
};

// Plans a program that was not made by compile() for the memory of the device.
std::shared_ptr<const CompiledModel> compile_program(const std::shared_ptr<gpu::Context>& context,
                                                     Program program, const PlanMemoryOptions& options = {});

// Whether each input has been set. Recordings share the flags with their executor.
using InputFlags = std::deque<std::atomic<bool>>;

// Throws Error(invalid_argument) unless `bytes` is the size of values of that type. kind: "input" or
// "output"; port: its name.
void check_byte_size(const char* kind, const std::string& port, const TensorType& type, size_t bytes);

class Executor final : private ArenaPool::Tenant {
 public:
  // Creates every device object, compiles every pipeline and records every command. Executors may share the
  // model and the source of weights; without a source the executor makes its own.
  Executor(std::shared_ptr<gpu::Context> context, std::shared_ptr<const CompiledModel> model,
           const ExecutorOptions& options = {}, std::shared_ptr<WeightSource> weights = nullptr);

  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  const CompiledModel& model() const { return *model_; }
  const Program& program() const { return model_->program; }
  AllocatedBytes allocated() const;
  // Returns the device memory of the weights; empty after trim().
  std::vector<std::shared_ptr<gpu::Arena>> weight_arenas() const;
  WeightBytes weight_bytes() const;
  size_t dispatch_count() const;
  size_t barrier_count() const;
  size_t pipeline_count() const;
  bool streams_weights() const { return streams_weights_; }

  // Inputs and outputs by position in program().inputs and outputs. A tensor has the dtype and shape of the
  // port, as far as these are known before running.
  void set_input(size_t index, const HostTensor& tensor);
  HostTensor output(size_t index) const;
  // Copy from and to memory of the caller, in the port's dtype and with exactly its size.
  void set_input(size_t index, std::span<const std::byte> values);
  void output(size_t index, std::span<std::byte> to) const;
  // Returns the type that the last run determined, or before a run the type of the port.
  const TensorType& output_type(size_t index) const;
  // Returns the value that was set last.
  HostTensor input(size_t index) const;
  // Returns whether the input was set since forget_inputs().
  bool has_input(size_t index) const { return (*has_input_)[index] || program().inputs[index].is_state; }
  void forget_inputs();
  std::shared_ptr<const InputFlags> input_flags() const { return has_input_; }

  // Runs one inference and returns when it is done.
  void run();
  // Run one inference in two parts. start() submits as much as SubmitLimits allow before the first host
  // partition, and returns. If weights are streamed, start() returns when everything is done. finish()
  // submits the rest and waits for the end.
  //
  // Between start() and finish(), poll() submits as much as SubmitLimits allow, runs host partitions whose
  // inputs are ready (with HostWork::no it returns false instead), and returns whether finish() would return
  // at once. wait_until() polls until finish() would return at once, or until the deadline has passed.
  //
  // `semaphores`: semaphores of the application; they are copied. Throws Error(unsupported) if there are any
  // and the run has no work on the device.
  void start(const SubmitSemaphores& semaphores = {});
  enum class HostWork : uint8_t { no, yes };
  bool poll(HostWork host_work = HostWork::yes);
  bool wait_until(std::chrono::steady_clock::time_point deadline);
  void finish();
  // Cancels the run that was started: nothing more is submitted, and finish() throws Error(cancelled). A run
  // with semaphores of the application is submitted completely. May be called from any thread.
  void cancel() { cancelled_ = true; }

  // Frees the objects in the pool's memory, and the pool's memory if no other executor uses it. With
  // `weights` also releases the weights, unless they stream or other executors hold them. Call it between
  // runs. The next start() makes everything again. Inputs and outputs keep their values.
  void trim(bool weights);

  // The parts that a Recording shares.
  const std::shared_ptr<gpu::Context>& context() const { return context_; }
  const std::shared_ptr<const CompiledModel>& shared_model() const { return model_; }
  const std::shared_ptr<WeightSource>& weight_source() const { return weights_; }
  DeviceTensors complete_tensors();  // makes them again after trim()
  const DeviceTensors& tensors() const { return tensors_; }
  // Makes outputs that a Recording wrote visible to output().
  void invalidate_outputs() const;
  const Pipelines& pipelines() const { return pipelines_; }

  // Begin and end of a task on the device, in milliseconds after the first task began. NaN for host
  // partitions, and without ExecutorOptions::timestamps.
  struct TaskSpan {
    double begin_ms = 0, end_ms = 0;
  };
  std::vector<TaskSpan> task_spans() const;
  std::vector<double> task_milliseconds() const;  // duration of each task

 private:
  struct Step : SubmitRange {
    std::unique_ptr<gpu::CommandBuffer> commands;  // none for a host partition
    std::unique_ptr<gpu::Fence> fence;
  };

  bool is_running() const override { return is_running_; }
  void leave() noexcept override;

  std::future<Pipelines> make_pipelines();
  // Returns the keys of the pipelines of all dispatches, divided as these times require.
  std::vector<gpu::PipelineKey> pipeline_keys_for(const std::vector<double>& milliseconds) const;
  std::vector<int64_t> segments() const;
  // After one of the first runs.
  void follow_measured_times();
  void split_into_steps();
  // Ensures that weights and objects are in device memory, and that the commands are recorded.
  void apply_placement(const ArenaPool::Turn& turn);
  void record_all();
  void record(size_t index, bool first, bool host_follows);
  void begin_run(const SubmitSemaphores& semaphores);
  void run_streamed(WeightStream& stream);
  bool has_room_for(const Step& step) const;
  void submit_ahead();
  void submit_rest();
  void wait_for_submitted();
  gpu::Fence* oldest_unfinished() const;
  // Returns whether the run will make no further submits.
  bool has_submitted_all() const;
  bool is_last_submit(const Step& step) const;
  void run_step(Step& step, std::span<const gpu::Semaphore* const> wait);
  class StepProgress;
  HostTensor read(const Port& port) const;
  const HostTensor& host_output(const Port& port) const;

  std::shared_ptr<gpu::Context> context_;
  std::shared_ptr<const CompiledModel> model_;
  std::shared_ptr<WeightSource> weights_;
  ExecutorOptions options_;
  std::shared_ptr<ArenaPool> pool_;
  DeviceTensors tensors_;
  std::shared_ptr<InputFlags> has_input_;
  uint64_t pool_generation_ = 0;          // of the objects in tensors_
  std::vector<double> milliseconds_;      // per task: predicted, or measured where that is longer
  Pipelines pipelines_;                   // per dispatch
  std::vector<size_t> dispatch_of_task_;  // index into pipelines_ and sets_
  std::unique_ptr<gpu::DescriptorSets> sets_;
  std::unique_ptr<gpu::TimestampQueries> queries_;
  std::unique_ptr<const Poison> poison_;       // if memory is poisoned
  std::unique_ptr<SubmitTimes> submit_times_;  // where submits have a limit of time
  std::vector<Step> steps_;
  // Outputs with run-time shapes of the last run; empty before it, and if it failed.
  std::vector<HostTensor> host_outputs_;
  size_t next_step_ = 0;  // of the run that was started
  bool streams_weights_ = false;
  uint32_t runs_to_measure_ = 2;  // the first may be slow by chance, the second shows the new division
  bool has_times_ = false;        // submit_times_ has those of a whole run
  bool is_ordered_ = false;       // the application's semaphores order the run and may wait for all of it
  std::atomic<bool> cancelled_ = false;
  std::atomic<bool> is_running_ = false;  // from start() to finish()
  // The application's semaphores: the first submit waits for wait_first_, the last one signals signal_last_.
  std::vector<SemaphoreValue> wait_first_, signal_last_;
};

}  // namespace vellum
