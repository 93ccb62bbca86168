// Sessions, which run a model on a device, and their runs.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vellum/device.hpp"
#include "vellum/export.h"
#include "vellum/model.hpp"
#include "vellum/profile.hpp"
#include "vellum/session_options.hpp"
#include "vellum/steps.hpp"
#include "vellum/tensor.hpp"

struct VkCommandBuffer_T;  // VkCommandBuffer points to it

namespace vellum {

// Values in the caller's memory, dense and row-major, with the dtypes of the session's inputs() and
// outputs().
struct InputValues {
  std::string_view name;
  std::span<const std::byte> values;
  std::span<const int64_t> shape = {};  // empty: the input's current shape
};
struct OutputValues {
  std::string_view name;
  std::span<std::byte> values;  // exactly as many bytes as the output has
};

class Request;
class RequestQueue;
class Session;
class StateMemory;

// An inference that Session::submit() has begun. It may outlive its session: the destructor of a session
// waits for its runs, and the runs keep their results. Runs of one session may be used on different threads,
// each run by one thread at a time.
class VELLUM_API Run {
 public:
  Run() = default;  // not valid()
  // Waits for the run, so that nothing is written to the caller's memory afterwards.
  ~Run();
  Run(Run&& other) noexcept;
  Run& operator=(Run&& other) noexcept;

  bool valid() const { return request_ != nullptr; }
  // Returns whether wait() would return at once. Does not wait for the device. If the device is done, this
  // call copies the outputs and runs operators on the host.
  bool done() const;
  // Waits until this inference and all that were submitted before it are done, and its outputs are written.
  // Throws the Error with which the run ended (device_lost, out_of_memory, ...), on every call.
  void wait() const;
  // Waits at most `timeout` for the device. Returns whether wait() would return at once; only wait() throws
  // the run's error. Operators on the host and copies of outputs are not interrupted.
  // DeviceOptions::wait_limit_ms does not apply here; wait() detects a device that hangs.
  bool wait_for(std::chrono::nanoseconds timeout) const;
  // Stops the parts of the run that were not submitted yet, and returns at once. When the submitted parts are
  // done, wait() throws Error(cancelled). Nothing is written to the caller's outputs.
  //
  // It stops further submits of a run that SessionOptions::max_submit_ms divides. It also stops operators on
  // the host that have not begun, and everything after them. Vulkan cannot take back a submit. Therefore a
  // run is completed if it is one submit, has semaphores of the application, or streams its weights
  // (weights_budget).
  //
  // It has no effect on other runs, or on a run that is done() or is writing its outputs. May be called from
  // any thread, also while another thread waits for this run.
  void cancel() const;
  // Wait, then return outputs that were kept (Session::submit()).
  Tensor output(std::string_view name) const;
  std::map<std::string, Tensor> outputs() const;

 private:
  friend class Session;
  Run(std::shared_ptr<RequestQueue> queue, Request* request);
  Request& checked() const;
  std::shared_ptr<RequestQueue> queue_;
  Request* request_ = nullptr;
};

class SessionCreation;

// An input of a session that is state, and the output that each run leaves in it (SessionOptions::state).
struct StateInfo {
  std::string input, output;  // tensor names
  DType dtype = DType::f32;
  Shape shape;  // open dimensions are -1 before the session is prepared
};

// A copy of all states of a session, in device memory of its own: Session::save_state(). Copies of this
// object share the memory.
class VELLUM_API SavedState {
 public:
  SavedState() = default;  // not valid()
  bool valid() const { return memory_ != nullptr; }
  uint64_t bytes() const;  // of device memory; 0 if not valid()

 private:
  friend class Session;
  std::shared_ptr<const StateMemory> memory_;
};

// The memory that Session::trim() frees.
enum class TrimLevel : uint8_t {
  intermediates,  // intermediate tensors, and everything that belongs to earlier input shapes
  weights,        // also the weights, unless they stream (weights_budget) or another session uses them
};

// A model prepared on a device: planned, allocated, compiled and recorded. One thread at a time, except for
// submit() and try_submit(). A session that was moved from may only be assigned to or destroyed; its
// functions throw Error(invalid_argument).
//
// Between runs the caller may change dimensions that the model leaves open, the batch (the first dimension),
// and the values of inputs that decide shapes. The session is prepared once for each combination. Sessions of
// one model on one device share weights of the same precision and storage, which are freed with the last such
// session.
class VELLUM_API Session {
 public:
  Session(const Device& device, const Model& model, const SessionOptions& options = {});
  // Makes a session on a new thread, and returns at once.
  static SessionCreation create_async(const Device& device, const Model& model,
                                      const SessionOptions& options = {});
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  // Shapes are those of the last run or prepare(); before that, open dimensions are -1. Data-dependent
  // dimensions of outputs are those of the last completed run, and -1 before it.
  const std::vector<TensorInfo>& inputs() const;
  const std::vector<TensorInfo>& outputs() const;

  // Prepares the session now, instead of at the next run, for these input shapes and for the values of
  // set_input() that decide shapes. Omitted inputs keep their shape. An input whose shape does not change
  // keeps its value.
  void prepare(const InputShapes& shapes);
  // Copies a tensor to an input. Its dtype must be that of inputs(); its shape may be any that the model
  // accepts. The input keeps its value over runs.
  void set_input(std::string_view name, const Tensor& tensor);
  // Copies values from the caller's memory, dense and row-major, to an input in its current shape. In a
  // prepared session this does not allocate memory, and neither do run() and output() below.
  void set_input(std::string_view name, std::span<const std::byte> values);
  // Runs one inference and returns when it is done. Every input must have been set. Throws
  // Error(invalid_argument) if the model cannot run with the shapes of the inputs; the session stays usable
  // with other inputs.
  void run();
  // Frees memory, for Android's onTrimMemory() and the like. First waits for all runs under way. Inputs and
  // outputs keep their values. The next run allocates everything again, and may throw Error(out_of_memory).
  // Allocating intermediates takes milliseconds. Loading weights takes about as long as making a session with
  // cached shaders.
  void trim(TrimLevel level = TrimLevel::intermediates);
  // Returns an output of the last run() with the current input shapes. Throws Error(invalid_argument) before
  // the first run(), after a run() that failed, and after submit().
  Tensor output(std::string_view name) const;
  void output(std::string_view name, std::span<std::byte> to) const;  // `to`: exactly the output's bytes
  // Sets inputs, runs, and returns all outputs.
  std::map<std::string, Tensor> run(const std::map<std::string, Tensor>& inputs);

  // Begins an inference and returns as soon as it is submitted. If SessionOptions::in_flight runs are under
  // way, it first waits for the oldest, whose results stay with its Run. While a run is under way the caller
  // can prepare the next inputs and read earlier outputs.
  //
  // `inputs` must list every input, and is copied. Inputs of set_input() and the outputs of the last run()
  // are dropped. Runs execute in the order of submission. A submit with other shapes, or other values that
  // decide shapes, first waits for all runs under way. With a weights_budget, and with operators on the host,
  // part of the work is done in submit(), wait() and done().
  //
  // May be called from several threads at once, also during done() and wait() of any Run. All other functions
  // of the session need exclusive access, and first wait for all runs under way.
  //
  // `outputs` lists the memory to write to. It belongs to the library until wait() returns, done() returns
  // true or the Run is destroyed. Every output whose shape is known may be listed, on whichever side it is
  // computed. An output whose shape only the run determines is kept for Run::output(). Other outputs that are
  // not listed are not read. If the file declares a wrong shape for an output and no shape rule detects it
  // earlier, the run ends with Error(invalid_argument). After in_flight runs have been under way once,
  // submit() and wait() do not allocate memory.
  Run submit(std::span<const InputValues> inputs, std::span<const OutputValues> outputs);
  // Begins an inference that semaphores order with other work: with work of the application on its device
  // (Device::adopt()), or of another process (ExternalSemaphore of vellum/external.hpp). The run's work on
  // the device begins after semaphores.wait and signals semaphores.signal at its end. With operators on the
  // host, the last submit may happen in wait() or done(). If the function throws, no further semaphore is
  // signalled. Throws Error(unsupported) if the run has no work on the device.
  Run submit(std::span<const InputValues> inputs, std::span<const OutputValues> outputs,
             const SubmitSemaphores& semaphores);
  // Begins an inference, and keeps every output for Run::output().
  Run submit(const std::map<std::string, Tensor>& inputs);

  // Begin an inference as submit() does, if a run can begin at once. Otherwise they return a Run that is not
  // valid(), so that a producer of frames can drop or keep this frame. A run cannot begin while in_flight
  // runs are under way, or while another thread's submit() prepares the session for other shapes. The
  // functions never wait for the device and never run operators on the host. A run is under way until the
  // device has finished it; a run with operators on the host is under way until done() or wait() has run
  // them. Throw Error(invalid_argument) if the session is not prepared for these shapes. With a
  // weights_budget the whole inference happens in the call.
  Run try_submit(std::span<const InputValues> inputs, std::span<const OutputValues> outputs);
  Run try_submit(const std::map<std::string, Tensor>& inputs);

  // Records one inference into the application's command buffer, with the application's buffers as inputs and
  // outputs. The session must be prepared, on a device of Device::adopt(). vellum/vulkan.hpp has the types;
  // the comment of Recording has the contract of barriers, queues and lifetimes. Every input must be bound,
  // except inputs that decide shapes, which have the values that the session is prepared for. Outputs that
  // are not bound cannot be read. To change bindings, record again: earlier Recordings stay valid.
  //
  // States need not be bound, and cannot be: each execution of the commands continues them. A command buffer
  // may contain several steps of a network with state, recorded with Recording::record().
  //
  // Throws Error(unsupported), which states the reason, if the host does part of the work (operators without
  // a kernel, data-dependent shapes, a weights_budget, check_finite), with repeat_every, with state_capacity
  // (use bind_steps()), and for a constant output. Throws Error(not_found) for an unknown name. Throws
  // Error(invalid_argument) before the session is prepared, and for an input that is not bound, a null
  // handle, an offset that is not aligned, and a range that is too short or overlaps an output's.
  Recording record(VkCommandBuffer_T* commands, std::span<const BufferBinding> inputs,
                   std::span<const BufferBinding> outputs);
  // Binds without recording, for Recording::record(), submit() and run(). Also works on a device of
  // Device::open(), with buffers of vellum/external.hpp.
  Recording bind(std::span<const BufferBinding> inputs, std::span<const BufferBinding> outputs);
  // Record and bind as the functions above do, with images of the application among inputs and outputs. Also
  // throw Error(invalid_argument) and Error(unsupported) for an image that ImageBinding does not allow.
  Recording record(VkCommandBuffer_T* commands, const NetworkBindings& bindings);
  Recording bind(const NetworkBindings& bindings);
  // Runs one inference of a recording that bind() made with NetworkBindings::rest_on_host, and returns when
  // it is done. Inputs that are not bound have the values of set_input(); output() returns outputs that are
  // not bound. Throws Error(invalid_argument) for another recording, after the session was prepared for other
  // shapes, and for an input without values.
  void run(const Recording& recording);
  // Return how buffers must be made for the current input shapes. Throw the errors of record().
  BufferLayout input_buffer(std::string_view name) const;
  BufferLayout output_buffer(std::string_view name) const;

  // Return the states, in the order of SessionOptions::state, or of the inputs for "auto". States never pass
  // through the host: inputs() and outputs() list them, but set_input(), submit() and output() refuse them,
  // and run() and Run omit them. A state begins with the initial value that the model declares, else with
  // zeros. All input shapes of the session share it. After a run that failed, a state is undefined until it
  // is set or reset.
  const std::vector<StateInfo>& states() const;
  // Sets all states to their initial values.
  void reset_state();
  // Copy one state to and from the host, by the name of its input or output. A tensor has the dtype and shape
  // of the state. Throw Error(not_found) for a name that is no state, and Error(invalid_argument) before the
  // session is prepared.
  Tensor state(std::string_view name) const;
  void set_state(std::string_view name, const Tensor& tensor);
  // Copies all states on the device. memory() and budgets do not count the copy.
  SavedState save_state() const;
  // Copies saved states back on the device. `saved` may come from another session of the same device whose
  // states have the same types and shapes. Each session goes on with states of its own. Throws
  // Error(invalid_argument) for states of any other session.
  void restore_state(const SavedState& saved);

  // Binds several runs, one after another on the device (vellum/steps.hpp), for the current input shapes. The
  // session must be prepared. Throws the errors of bind(); Error(invalid_argument) for names, types and
  // values that StepOptions does not allow.
  StepLoop bind_steps(const StepOptions& options);
  // Runs the steps, and returns when they are done. `inputs`: inputs of the first step, and the values of
  // step_inputs; inputs that are not listed keep their values. Afterwards inputs of StepOptions::feedback
  // have the values of the last step, so that another call continues. The session switches to the loop's
  // input shapes if it is prepared for others; Error(invalid_argument) if it has dropped the loop's shapes
  // (SessionOptions::cached_shapes): bind again. With growing caches the steps must fit their capacity.
  StepResults run_steps(const StepLoop& loop, const std::map<std::string, Tensor>& inputs = {},
                        const StepProgress& progress = {});

  // Returns the memory for the input shapes of the last run; weights are counted for all shapes. Empty before
  // the session is prepared.
  MemoryReport memory() const;
  // Returns the tasks of the last run in execution order. Throws Error(invalid_argument) without
  // SessionOptions::profile.
  std::vector<LayerTime> layer_times() const;
  size_t dispatch_count() const;
  size_t pipeline_count() const;
  size_t barrier_count() const;  // pipeline barriers in the commands of one run
  // Warnings, e.g. about operators that run on the host.
  const std::vector<std::string>& warnings() const;

 private:
  friend class HardwareFrames;
  friend struct Handles;
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  Impl& checked() const;
  std::unique_ptr<Impl> impl_;
};

struct CreationProgress {
  // Number of pipelines that are ready, and number of pipelines that the session needs. Both are 0 until the
  // network is compiled to dispatches.
  size_t ready = 0, total = 0;
};

// A session that Session::create_async() is making on a thread of its own, which ends with the creation. One
// thread at a time may use this object, except that other threads may call progress() and cancel(), also
// during get().
class VELLUM_API SessionCreation {
 public:
  SessionCreation();  // not valid()
  // Cancels, and waits for the thread. The thread first finishes its current stage or pipelines, because
  // Vulkan cannot interrupt a driver that compiles.
  ~SessionCreation();
  SessionCreation(SessionCreation&&) noexcept;
  SessionCreation& operator=(SessionCreation&&) noexcept;

  bool valid() const;  // whether get() may be called
  CreationProgress progress() const;
  bool done() const;  // whether get() would return at once
  // Waits at most `timeout`; returns done().
  bool wait_for(std::chrono::nanoseconds timeout) const;
  // Asks the thread to end, and returns at once. If the session is not ready yet, its buffers, images and
  // memory are freed, and get() throws Error(cancelled). Pipelines that are ready stay in the device's cache
  // for the next session.
  void cancel() const;
  // Waits, then returns the session or throws the errors of Session's constructor. Afterwards this object is
  // not valid().
  Session get();

 private:
  friend class Session;
  struct Impl;
  Impl& checked() const;
  std::unique_ptr<Impl> impl_;
};

// Returns a stage between model and session as text: "graph", "program", "plan" or "barriers". Without a
// device it uses the caps of the Android Baseline 2022 profile.
VELLUM_API std::string describe(const Model& model, std::string_view stage,
                                const SessionOptions& options = {}, const Device* device = nullptr);
// Returns a stage as one JSON object. docs/tool.md lists its members.
VELLUM_API std::string describe_json(const Model& model, std::string_view stage,
                                     const SessionOptions& options = {}, const Device* device = nullptr);

}  // namespace vellum
