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
  std::span<std::byte> values;  // of exactly the output's size
};

class Request;
class RequestQueue;
class Session;

// An inference that Session::submit() has begun. It is independent of the session: a session that is
// destroyed first waits for its runs, and they keep their results. Runs of one session may be used on
// different threads, each run by one thread at a time.
class VELLUM_API Run {
 public:
  Run() = default;  // not valid()
  // Waits, so that nothing is written to the caller's memory afterwards.
  ~Run();
  Run(Run&& other) noexcept;
  Run& operator=(Run&& other) noexcept;

  bool valid() const { return request_ != nullptr; }
  // Returns whether wait() would return at once. Does not wait for the device, but copies outputs and runs
  // operators on the host if the device is done.
  bool done() const;
  // Waits until this inference, and all that were submitted before it, are done and its outputs are written.
  // Throws the Error with which the run ended (device_lost, out_of_memory, ...), on every call.
  void wait() const;
  // Waits at most `timeout` for the device. Returns whether wait() would return at once; the error of the run
  // is left to wait(). Operators on the host and copies of outputs are not interrupted, and the limit
  // DeviceOptions::wait_limit_ms does not apply: a device that hangs is found by wait().
  bool wait_for(std::chrono::nanoseconds timeout) const;
  // Stops what the device has not been given yet, and returns at once. wait() then throws Error(cancelled) as
  // soon as the device has done what it was given, and nothing is written to the caller's outputs.
  //
  // It stops the further submits of a run that SessionOptions::max_submit_ms divides, operators on the host
  // that have not begun, and what follows them. It cannot stop submits that the device has, begun or not:
  // Vulkan does not take them back. That is all of a run that is one submit, that has semaphores of the
  // application, or that streams its weights (weights_budget).
  //
  // Has no effect on other runs, nor on a run whose outputs are being written or that is done(). May be
  // called from any thread, also while another thread waits for this run.
  void cancel() const;
  // Wait and return outputs that were kept, see Session::submit().
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

// The memory that Session::trim() frees.
enum class TrimLevel : uint8_t {
  intermediates,  // the memory of intermediate tensors, and all that belongs to earlier input shapes
  weights,        // that, and the weights, unless they stream (weights_budget) or another session has them
};

// A model made ready on a device: planned, allocated, compiled, recorded. One thread at a time, except for
// submit() and try_submit().
//
// Input shapes may change from run to run, within what the model leaves open (and the batch, the first
// dimension), and so may the values of inputs that decide shapes: the session prepares itself once for each
// combination of them. Sessions of one model on one device share weights of the same precision and storage;
// the weights are freed with the last such session.
class VELLUM_API Session {
 public:
  Session(const Device& device, const Model& model, const SessionOptions& options = {});
  // Makes a session on a thread of its own, and returns at once.
  static SessionCreation create_async(const Device& device, const Model& model,
                                      const SessionOptions& options = {});
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  // Shapes are those of the last run or prepare(); before either, open dimensions are -1. Data-dependent
  // dimensions of outputs are -1 until a run has completed, and then that run's.
  const std::vector<TensorInfo>& inputs() const;
  const std::vector<TensorInfo>& outputs() const;

  // Prepares the session for these input shapes now instead of at the next run, and for the values of
  // set_input() that decide shapes. Omitted inputs keep their shape. An input whose shape does not change
  // keeps its value.
  void prepare(const InputShapes& shapes);
  // Sets an input by name, by copy. The dtype is that of inputs(), the shape any that the model accepts. The
  // input keeps its value over runs.
  void set_input(std::string_view name, const Tensor& tensor);
  // Sets an input from the caller's memory, dense and row-major, in its current shape. In a prepared session
  // this does not allocate memory, and neither do run() and output() below.
  void set_input(std::string_view name, std::span<const std::byte> values);
  // Runs one inference and returns when it is done. Every input must have been set. Throws
  // Error(invalid_argument) if the model cannot run with the shapes of the inputs; other inputs may then be
  // set.
  void run();
  // Gives memory back, for Android's onTrimMemory() and the like. First waits for all runs under way. Inputs
  // and outputs keep their values. The next run makes everything again, as it was: milliseconds for
  // intermediates, about as long as a session takes whose shaders are cached for weights; it may throw
  // Error(out_of_memory).
  void trim(TrimLevel level = TrimLevel::intermediates);
  // Returns an output of the last run() with the current input shapes. Throws Error(invalid_argument) before
  // there is one, after one that failed, and after submit().
  Tensor output(std::string_view name) const;
  void output(std::string_view name, std::span<std::byte> to) const;  // of exactly the output's size
  // Sets inputs, runs, and returns all outputs.
  std::map<std::string, Tensor> run(const std::map<std::string, Tensor>& inputs);

  // Begins an inference and returns as soon as the device has it. If SessionOptions::in_flight runs are under
  // way, it first waits for the oldest, whose results stay with its Run. Meanwhile the caller can prepare the
  // next inputs and read earlier outputs.
  //
  // Every input is given here, and copied; inputs of set_input() and the outputs of the last run() are
  // dropped. Runs execute in the order of submission. A submit with other shapes first waits for all runs
  // under way, as does one with other values that decide shapes. With a weights_budget, and for operators on
  // the host, part of the work is done in this call, in wait() and in done().
  //
  // May be called from several threads at once, beside done() and wait() of any Run. All other functions of
  // the session need exclusive access, and first wait for all runs under way.
  //
  // `outputs`: the memory to write to. It belongs to the library until wait() returns, done() returns true or
  // the Run is destroyed. Any output whose shape is known can be listed, wherever it is computed; one that is
  // not known before the run is kept for Run::output() instead. Other outputs that are not listed are not
  // read. The run ends with Error(invalid_argument) if the file declares another shape for an output than the
  // run computes, where no shape rule tells before. Once in_flight Runs have been under way, submit and wait
  // do not allocate memory.
  Run submit(std::span<const InputValues> inputs, std::span<const OutputValues> outputs);
  // Does the same, in an order with other work: of the application's on its device (Device::adopt()), or of
  // another process (ExternalSemaphore of vellum/external.hpp). What the run does on the device begins after
  // semaphores.wait, and its end signals semaphores.signal. With operators on the host the end may be
  // submitted by wait() or done(). If it throws, no semaphore is signalled that an earlier part of the run
  // has not signalled. Throws Error(unsupported) if the device does nothing in the run.
  Run submit(std::span<const InputValues> inputs, std::span<const OutputValues> outputs,
             const SubmitSemaphores& semaphores);
  // Begins an inference; every output is kept for Run::output().
  Run submit(const std::map<std::string, Tensor>& inputs);

  // Do the same as submit() where a run can begin at once, and return a Run that is not valid() where
  // in_flight runs are under way, or while another thread's submit() prepares the session for other shapes: a
  // producer of frames then drops this frame, or keeps it until the next. They never wait for the device and
  // never run operators on the host. Runs that the device has done make room, as in done(); those with
  // operators on the host only once done() or wait() has run them. Throw Error(invalid_argument) if the
  // session is not prepared for these shapes. With a weights_budget the whole inference happens in the call.
  Run try_submit(std::span<const InputValues> inputs, std::span<const OutputValues> outputs);
  Run try_submit(const std::map<std::string, Tensor>& inputs);

  // Records one inference into the application's command buffer, with the application's buffers as inputs and
  // outputs; the session must be prepared, on a device of Device::adopt(). vellum/vulkan.hpp has the types,
  // and at Recording the contract of barriers, queues and lifetimes. Every input must be bound, except those
  // that decide shapes: their values are those that the session is prepared for. Outputs that are not bound
  // are not readable. To change bindings, record again: the Recording of before stays valid.
  //
  // Throws Error(unsupported), naming the reason, if part of the work is the host's (operators without a
  // kernel, data-dependent shapes, a weights_budget, check_finite) and for a constant output;
  // Error(not_found) for an unknown name; Error(invalid_argument) before the session is prepared, and for an
  // input that is not bound, a null handle, an offset that is not aligned, a range that is too short or
  // overlaps that of an output.
  Recording record(VkCommandBuffer_T* commands, std::span<const BufferBinding> inputs,
                   std::span<const BufferBinding> outputs);
  // Binds without recording, for Recording::record(), submit() and run(); also on a device of Device::open(),
  // whose buffers come from vellum/external.hpp.
  Recording bind(std::span<const BufferBinding> inputs, std::span<const BufferBinding> outputs);
  // Like those above, with images of the application among inputs and outputs. Throw Error(invalid_argument)
  // and Error(unsupported) besides, for an image that ImageBinding does not allow.
  Recording record(VkCommandBuffer_T* commands, const NetworkBindings& bindings);
  Recording bind(const NetworkBindings& bindings);
  // Runs one inference of a recording that bind() made with NetworkBindings::rest_on_host, and returns when
  // it is done: with the values of set_input(), for output(). Throws Error(invalid_argument) for another
  // recording, after the session was prepared for other shapes, and for an input without values.
  void run(const Recording& recording);
  // How the buffers must be made, for the current input shapes. Throw as record().
  BufferLayout input_buffer(std::string_view name) const;
  BufferLayout output_buffer(std::string_view name) const;

  // The memory for the input shapes of the last run; weights are those of all shapes. Empty before the
  // session is prepared.
  MemoryReport memory() const;
  // The tasks of the last run, in execution order. Throws Error(invalid_argument) without
  // SessionOptions::profile.
  std::vector<LayerTime> layer_times() const;
  size_t dispatch_count() const;
  size_t pipeline_count() const;
  size_t barrier_count() const;  // pipeline barriers in the commands of one run
  // Warnings, e.g. about operators that run on the host.
  const std::vector<std::string>& warnings() const;

 private:
  friend class HardwareFrames;
  struct Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  Impl& checked() const;
  std::unique_ptr<Impl> impl_;
};

struct CreationProgress {
  // Pipelines that are ready, of those that the session needs: 0 of 0 until the network is compiled to
  // dispatches.
  size_t ready = 0, total = 0;
};

// A session that is being made by Session::create_async(). It has one thread, which ends with the creation,
// besides those that the constructor of Session uses; nothing else. One thread at a time, except that others
// may call progress() and cancel() meanwhile, also during get().
class VELLUM_API SessionCreation {
 public:
  SessionCreation();  // not valid()
  // Cancels, and waits for the thread, which first ends the stage or the pipelines that it is at: Vulkan
  // cannot interrupt a driver that compiles.
  ~SessionCreation();
  SessionCreation(SessionCreation&&) noexcept;
  SessionCreation& operator=(SessionCreation&&) noexcept;

  bool valid() const;  // get() may be called
  CreationProgress progress() const;
  bool done() const;  // get() would return at once
  // Waits at most `timeout`; returns done().
  bool wait_for(std::chrono::nanoseconds timeout) const;
  // Asks the thread to end, and returns at once. A session that is not ready is then not made: its buffers,
  // images and memory are freed, and get() throws Error(cancelled). Pipelines that are ready stay with the
  // device, for the next session.
  void cancel() const;
  // Waits and returns the session, or throws as the constructor of Session does. Afterwards not valid().
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

}  // namespace vellum
