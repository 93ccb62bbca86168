// Vellum: Vulkan compute inference for vision models, with planned, shared memory.
//
//   vellum::Device device = vellum::Device::open();
//   vellum::Model model = vellum::Model::load("model.onnx");
//   vellum::Session session(device, model);
//   auto outputs = session.run({{"image", vellum::Tensor::f32({1, 3, 224, 224}, pixels)}});
//
// Every function may throw vellum::Error and nothing else. The library prints nothing and keeps no global
// state.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vellum/device_id.hpp"
#include "vellum/error.hpp"
#include "vellum/export.h"
#include "vellum/limits.hpp"
#include "vellum/log.hpp"
#include "vellum/memory_pool.hpp"
#include "vellum/options.hpp"
#include "vellum/profile.hpp"
#include "vellum/tensor.hpp"

struct VkCommandBuffer_T;  // VkCommandBuffer points to it

namespace vellum {

// A dense, row-major tensor in host memory, in the model's own order of dimensions.
using Tensor = HostTensor;

struct DeviceInfo {
  uint32_t index = 0;  // in devices()
  DeviceUuid uuid{};
  std::optional<DeviceLuid> luid;         // where the driver reports one, as on Windows
  uint32_t vendor_id = 0, device_id = 0;  // VkPhysicalDeviceProperties
  std::string name;
  std::string type;               // "discrete GPU", "integrated GPU", "virtual GPU", "CPU", "other"
  std::string driver;             // name and version
  std::string api_version;        // "1.3.230"
  std::string preferred_storage;  // the meaning of StorageChoice::automatic
  bool fp16_arithmetic = false;
  uint32_t subgroup_size = 0;        // 0: unknown, or subgroups may have fewer invocations
  std::string cooperative_matrices;  // the supported products of halves, "KHR 16x16x16"; or "no: ..."
  float timestamp_period_ns = 0;     // 0: no GPU timestamps
  uint32_t max_image_dimension_2d = 0, max_image_dimension_3d = 0;
  uint64_t max_storage_buffer_range = 0;
};

// Returns the Vulkan devices of this machine that can compute. Throws Error(no_device) without a Vulkan
// loader.
VELLUM_API std::vector<DeviceInfo> devices();

// Returns the user's folder for Vellum's caches by the platform's convention; empty if the environment has
// none.
VELLUM_API std::filesystem::path default_cache_folder();

struct DeviceOptions {
  // A number as devices() counts, uuid_text(DeviceInfo::uuid), or (part of) a name. Empty: a discrete GPU,
  // else an integrated one, else a CPU.
  std::string device;
  // Folder for compiled shaders and pipelines, made if it is missing; empty: nothing is kept on disk.
  std::filesystem::path cache_folder;
  // The Khronos validation layer, synchronisation validation included; its messages go to `log`.
  bool validation = false;
  // Behave as on the least device that Vellum supports (Android Baseline 2022): to test what a phone would
  // do.
  bool android_baseline_2022 = false;
  // From 0 to 1, relative to the other queues that the process has on the device.
  float queue_priority = 1;
  // Relative to the queues of all processes, for devices with VK_KHR_global_priority or
  // VK_EXT_global_priority: `low` leaves the device to what is drawn. Error(unsupported) if the device has
  // neither, or lets this user have no such priority.
  GlobalPriority global_priority = GlobalPriority::unspecified;
  // For debuggers (RenderDoc, Android GPU Inspector): labels around the commands of each layer, also in
  // command buffers of the application's, and names of pipelines, images and buffers. Needs
  // VK_EXT_debug_utils: Error(unsupported) without it; on an adopted device the application's instance must
  // have enabled it. With `validation` they are always there.
  bool debug_labels = false;
  // Milliseconds to wait for one submit before the device counts as hanging: Error(device_lost). What the
  // submit uses is kept until the device has finished. 0: no limit.
  uint32_t wait_limit_ms = 60'000;
  // The first session that uses a kernel on this device computes a small operator with it and compares the
  // result with the host's, before it runs anything: some milliseconds for each kernel, remembered in
  // `cache_folder` by device, driver and Vellum's version. A kernel that is wrong is not used: another one,
  // other storage or the host takes its place, and Session::warnings() names it. A library that compiles no
  // shaders (Vellum::runtime) checks none, but heeds what the folder remembers; `on`: Error(unsupported)
  // there.
  SelfCheck self_check = SelfCheck::automatic;
  LogCallback log;
};

// Of vellum/vulkan.hpp.
struct VulkanPhysicalDevice;
struct VulkanDevice;
struct BufferBinding;
struct NetworkBindings;
struct BufferLayout;
struct SubmitSemaphores;
class DeviceRequirements;
class Recording;
// Of vellum/external.hpp.
class HardwareFrames;

// An open device. Copies are handles to the same device, which lives as long as any handle or session.
// Thread-safe: sessions of one device may run on different threads.
class VELLUM_API Device {
 public:
  static Device open(const DeviceOptions& options = {});

  // For applications with a Vulkan device of their own; vellum/vulkan.hpp has the types, docs/embedding.md a
  // program.
  //
  // Returns what Vellum would use of a physical device, before the application makes its device. Throws
  // Error(unsupported) for a device that Vellum cannot use, Error(invalid_argument) for a null handle.
  static DeviceRequirements requirements(const VulkanPhysicalDevice& device);
  // Uses the application's device instead of opening one. Vellum makes no instance and no device, never
  // destroys the application's, and uses only what was enabled; info() shows what that leaves. All handles,
  // sessions, runs and recordings must be gone before the application destroys the device. While it makes or
  // runs a session, Vellum submits to `compute` (and `transfer`), within their locks. Throws
  // Error(unsupported) naming what is required and was not enabled, Error(invalid_argument) for a null
  // handle, for a queue of the wrong kind, and for options that say which device to open, or how: `device`,
  // `validation` (the application's instance decides), `queue_priority` and `global_priority`.
  static Device adopt(const VulkanDevice& device, const DeviceOptions& options = {});

  DeviceInfo info() const;
  // The number of errors and warnings that the validation layer has reported.
  uint64_t validation_messages() const;

  struct Impl;

 private:
  friend struct Handles;
  explicit Device(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

// A graph input or output with the model's own name. A dimension is -1 if the model leaves it open or if it
// is data-dependent (how many boxes NonMaxSuppression keeps). The shape {-1} can also mean that not even the
// number of dimensions is known.
struct TensorInfo {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  // Of inputs: whether shapes of other tensors, or the choice of a branch, depend on its values, such as the
  // sizes of a Resize. A session prepares itself for these values as for the shapes of inputs.
  bool decides_shapes = false;
};

struct NodeInfo {
  std::string name, op, attributes;
  std::vector<std::string> inputs, outputs;
  std::vector<Shape> output_shapes;
  uint64_t parameters = 0;  // elements of constant inputs
  uint64_t macs = 0;        // multiply-accumulates; 0 if input shapes are data-dependent
};

// Shapes of graph inputs by name: for inputs that the model leaves open, or to override.
using InputShapes = std::map<std::string, Shape>;
// Values of graph inputs by name, for inputs that decide shapes (TensorInfo::decides_shapes).
using InputTensors = std::map<std::string, Tensor>;

// A model file in memory, independent of any device. Copies are handles. Thread-safe.
class VELLUM_API Model {
 public:
  // Loads an ONNX model, a TFLite model or a bundle (vellum/pack.hpp), recognised by its content.
  // A file that exceeds `limits` is refused.
  static Model load(const std::filesystem::path& file, const LoadLimits& limits = {});
  // External weights are refused.
  static Model load(std::span<const std::byte> bytes, const LoadLimits& limits = {});
  // Does the same without a copy of a bundle: the model, and what is made of it, keep `bytes`, which must not
  // change, and read constants, weights and shaders there when they need them. A bundle that does not begin
  // at a multiple of 8 bytes is copied; of other formats nothing is kept.
  static Model load(std::shared_ptr<const std::byte> bytes, size_t byte_count, const LoadLimits& limits = {});

  const std::vector<TensorInfo>& inputs() const;
  // Shapes are inferred if all input shapes are known; open dimensions are -1.
  const std::vector<TensorInfo>& outputs() const;
  // The nodes as in the file, in execution order, with shapes inferred for these input shapes, and these
  // values of inputs that decide shapes.
  std::vector<NodeInfo> nodes(const InputShapes& shapes = {}, const InputTensors& values = {}) const;

  struct Impl;

 private:
  friend struct Handles;
  explicit Model(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

// Returns the names of the graph passes that can be disabled (SessionOptions::disabled_passes,
// docs/models.md).
VELLUM_API std::vector<std::string> graph_passes();

// How intermediate tensors are assigned to memory. The defaults are right for almost everyone.
struct PlanningOptions {
  std::string strategy = "best";  // of the planner, see docs/planner.md
  // Time limit in milliseconds for the strategies `best` and `exact` to search for a smaller plan; 0: no search.
  uint32_t search_ms = 100;
  // Three ways to need less memory. Each is used only where the plan does not grow by it, and never in mode naive.
  // None changes a bit of the results.
  bool in_place = true;  // elementwise operators may overwrite an input that nothing reads afterwards
  bool views = true;     // concatenations and splits of buffers need no copy
  bool reorder = true;   // tasks may run in another order than the model's
};

// For finding faults.
struct DebugOptions {
  // Graph passes to leave out, of graph_passes(): to compare, or to avoid a faulty one.
  std::vector<std::string> disabled_passes;
};

struct SessionOptions {
  Precision precision = Precision::fp32;
  // Arithmetic::fp16: Error(invalid_argument) with another precision than fp16, Error(unsupported) if the device has
  // no fp16 arithmetic.
  Arithmetic arithmetic = Arithmetic::fp32;
  StorageChoice storage = StorageChoice::automatic;
  MemoryMode memory = MemoryMode::shared_objects;
  // Shapes of inputs that the model leaves open, or another batch. A session whose input shapes are all known is made
  // ready when it is created, any other at the first run, with the shapes of the inputs that were set.
  InputShapes input_shapes;
  // Values of inputs that decide shapes, at most 64 each; their shapes need not be given besides. A session
  // that lacks one is made ready at the first run, with the values that were set. Estimates, plans and
  // bundles need all of them. The session keeps them until others are set. Error(invalid_argument) for an
  // input that decides no shape.
  InputTensors input_values;
  // Memory for the intermediate tensors that other sessions use, too. Not valid(): the session has its own.
  MemoryPool memory_pool;
  // How many combinations of input shapes, and of values that decide shapes, a session stays ready for, at
  // least 1; the least recently used is freed first. Each has its own inputs, outputs and commands; weights,
  // and the memory of intermediate tensors, are shared. Shapes that need more of this memory than there is
  // replace it, and the next run with other shapes records its commands again.
  uint32_t cached_shapes = 4;
  // 0: no limit. N: a submit ends after N tasks (1: layer by layer).
  uint32_t tasks_per_submit = 0;
  // The most milliseconds of work, by prediction, that a run hands to the device at a time; 0: no limit. A
  // run that takes longer is divided into submits of at most half of that, so that the device has the next
  // one: other work of the device, of the same queue too, waits no longer for this run, cancel() stops the
  // rest, and no watchdog of the driver ends it. run(), wait(), wait_for(), done() and try_submit() hand over
  // the next submits when the device has done earlier ones; while none is called the device does nothing more
  // of this run. With semaphores of the application all submits are handed over at once. A single dispatch is
  // not divided. Predictions are those of `vellum inspect --stage kernels`, for an unknown GPU those of a
  // common one. The results are the same bit for bit.
  //
  // Nothing: 16 on GPUs with a queue for graphics, which may serve a display; 0 on others and on CPUs.
  std::optional<uint32_t> max_submit_ms;
  // Bytes of device memory for weights; 0: no budget. With a budget the weights stay in host memory, mapped from the
  // model file or from files that are written once to the device's cache folder. They stream to the device layer by
  // layer while earlier layers run; the results are the same bit for bit. The session shares its weights with no other
  // session. Layers larger than the budget are split, or refused with Error(out_of_memory). Executors for an input
  // shape that does not fit beside the others replace them.
  uint64_t weights_budget = 0;
  // Bytes of device memory for everything that the session allocates from Vulkan: weights, intermediate
  // tensors, workspace, inputs, outputs of all runs in flight, and staging; 0: no budget. It is never
  // exceeded. If what the other options ask for takes more, the session finds the way to fit that should be
  // quickest: other memory modes and storages, without Winograd and tuned kernels, weights that stream as
  // with weights_budget (docs/memory.md). Results are the same bit for bit, unless Winograd, tuned kernels or
  // images of the device's choice were given up. Throws Error(out_of_memory), with the smallest budget that
  // suffices, if nothing fits. The session shares its weights with no other session and stays ready for one
  // combination of input shapes. Error(invalid_argument) with a weights_budget or a memory_pool. Memory of
  // the driver, such as that of pipelines, is not counted.
  uint64_t memory_budget = 0;
  // With a memory_budget, Precision::fp16 is one more way to fit, where fp32 does not fit without streaming
  // weights.
  bool budget_allows_fp16 = false;
  // Trades memory for speed in 3x3 convolutions. Off with a weights_budget.
  Winograd winograd = Winograd::automatic;
  // Use what tune() (vellum/tune.hpp) measured on the device: it decides which kernel computes each operator and, with
  // StorageChoice::automatic, the storage of each tensor. False: the cost model decides alone, as it does where nothing
  // was measured, and with a weights_budget.
  bool tuned = true;
  // How many runs submit() keeps in flight at the same time. Each has its own inputs, outputs, intermediate
  // tensors and commands, which are allocated when the session is made ready; weights and pipelines are
  // shared. At most 64, and 1 with a weights_budget.
  uint32_t in_flight = 1;
  // Check inputs and outputs of floats for NaN and infinities: Error(invalid_argument) that names the first
  // one. Without it they follow IEEE 754 as far as the device does: Vulkan lets drivers assume that there are
  // none, so that a NaN may give any number (docs/using.md).
  bool check_finite = false;
  // GPU timestamps around every task, for layer_times().
  bool profile = false;
  PlanningOptions planning;
  DebugOptions debug;
};

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

// What Session::trim() frees.
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
  // the Run is destroyed. Outputs that are not listed are not read, except those with data-dependent shapes,
  // which are kept for Run::output(). Once in_flight Runs have been under way, submit and wait do not
  // allocate memory.
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
  // The same with images of the application's among inputs and outputs. Throw Error(invalid_argument) and
  // Error(unsupported) besides, for an image that ImageBinding does not allow.
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
