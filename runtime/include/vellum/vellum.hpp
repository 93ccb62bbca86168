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

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vellum/error.hpp"
#include "vellum/export.h"
#include "vellum/log.hpp"
#include "vellum/options.hpp"
#include "vellum/profile.hpp"
#include "vellum/tensor.hpp"

namespace vellum {

// Dense, row-major, in host memory, in the model's own dimension order.
using Tensor = HostTensor;

struct DeviceInfo {
  uint32_t index = 0;
  std::string name;
  std::string type;               // "discrete GPU", "integrated GPU", "virtual GPU", "CPU", "other"
  std::string driver;             // name and version
  std::string api_version;        // "1.3.230"
  std::string preferred_storage;  // what StorageChoice::automatic means on it
  bool fp16_arithmetic = false;
  uint32_t subgroup_size = 0;  // 0: not known, or subgroups may have fewer invocations
  std::string
      cooperative_matrices;       // the products of halves that it takes, "KHR 16x16x16"; or "no: " and why
  float timestamp_period_ns = 0;  // 0: no GPU timestamps
  uint32_t max_image_dimension_2d = 0, max_image_dimension_3d = 0;
  uint64_t max_storage_buffer_range = 0;
};

// The Vulkan devices of this machine that can compute. Error(no_device) without a Vulkan loader.
VELLUM_API std::vector<DeviceInfo> devices();

// The user's folder for Vellum's caches, after the platform's custom; empty where the environment names none.
VELLUM_API std::filesystem::path default_cache_folder();

struct DeviceOptions {
  // A number as devices() counts, or (part of) a name. Empty: a discrete GPU, else an integrated one, else a
  // CPU.
  std::string device;
  // Folder for compiled shaders and pipelines, made if it is missing; empty: nothing is kept on disk.
  std::filesystem::path cache_folder;
  // The Khronos validation layer, synchronisation validation included; its messages go to `log`.
  bool validation = false;
  // Behave as on the least device that Vellum supports (Android Baseline 2022): to test what a phone would
  // do.
  bool android_baseline_2022 = false;
  LogCallback log;
};

// An opened device. Copies are handles to the same device; it lives as long as any handle or session.
// Thread-safe: sessions of one device may run on different threads.
class VELLUM_API Device {
 public:
  static Device open(const DeviceOptions& options = {});
  DeviceInfo info() const;
  // Errors and warnings that the validation layer has reported so far.
  uint64_t validation_messages() const;

  struct Impl;
  const std::shared_ptr<Impl>& impl() const { return impl_; }

 private:
  explicit Device(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

// A graph input or output under the model's own name. Dimensions that the model leaves open are -1, and so
// are those of outputs that only a run tells (how many boxes NonMaxSuppression keeps); the shape {-1} alone
// also says that not even the number of dimensions is known.
struct TensorInfo {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
};

struct NodeInfo {
  std::string name, op, attributes;
  std::vector<std::string> inputs, outputs;
  std::vector<Shape> output_shapes;
  uint64_t parameters = 0;  // elements of constant inputs
  uint64_t macs = 0;        // multiply-accumulates; 0 where only a run tells shapes of the inputs
};

// Shapes of graph inputs by name, for those that the model leaves open or to override.
using InputShapes = std::map<std::string, Shape>;

// A model file in memory, free of any device. Copies are handles. Thread-safe.
class VELLUM_API Model {
 public:
  // ONNX, TFLite or packed (vellum/pack.hpp), by content.
  static Model load(const std::filesystem::path& file);
  static Model load(std::span<const std::byte> bytes);  // external weights are refused

  const std::vector<TensorInfo>& inputs() const;
  // Shapes are inferred where all inputs have known ones; dimensions that stay open are -1.
  const std::vector<TensorInfo>& outputs() const;
  // The nodes as in the file, in execution order, with shapes inferred for the given inputs.
  std::vector<NodeInfo> nodes(const InputShapes& shapes = {}) const;

  struct Impl;
  const std::shared_ptr<const Impl>& impl() const { return impl_; }

 private:
  explicit Model(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

// The names of the passes that a session runs over the graph and that can be switched off, see
// docs/models.md.
VELLUM_API std::vector<std::string> graph_passes();

struct SessionOptions {
  Precision precision = Precision::fp32;
  // Error(invalid_argument) for Arithmetic::fp16 with another precision, Error(unsupported) where the device
  // cannot.
  Arithmetic arithmetic = Arithmetic::fp32;
  StorageChoice storage = StorageChoice::automatic;
  MemoryMode memory = MemoryMode::shared_objects;
  // How tensors are assigned to memory: a strategy name of the planner, see docs/planner.md.
  std::string strategy = "best";
  // Milliseconds that the strategies `best` and `exact` may search for a smaller plan; 0: no search.
  uint32_t search_ms = 100;
  // Three ways to need less memory. Each is used only where the plan gets no larger by it, never in mode
  // naive, and none changes a bit of the results.
  bool in_place = true;  // elementwise operators write over an input that dies there
  bool views = true;     // concatenations and splits without copies, where buffers hold the tensors
  bool reorder = true;   // tasks in another order than the model's
  // Of inputs that the model leaves open, or another batch. A session whose inputs all have a shape is made
  // ready at once, any other at the first run with the shapes of what was set.
  InputShapes input_shapes;
  // For how many combinations of input shapes a session stays ready; the one unused for longest goes first.
  // Each has its own intermediate tensors, inputs, outputs and commands; weights are shared. At least 1.
  uint32_t cached_shapes = 4;
  // 0: one submit for the whole network. N: one for every N tasks (layer by layer: 1).
  uint32_t tasks_per_submit = 0;
  // Bytes of device memory for weights; 0: as many as the model has. With a budget the weights stay in host
  // memory, mapped from the model file or from files that are written once to the device's cache folder, and
  // come to the device layer by layer while the layers before them run; results are the same bit for bit. The
  // session has its weights for itself. Layers larger than the budget are computed in parts, or refused with
  // Error(out_of_memory). A shape that does not fit beside the others takes their place.
  uint64_t weights_budget = 0;
  // Trades memory for speed in 3x3 convolutions. Off where there is a budget of weights.
  Winograd winograd = Winograd::automatic;
  // What tune() (vellum/tune.hpp) stored for the device decides how operators are computed and, with
  // StorageChoice::automatic, what holds each tensor. False: the cost model decides alone, as it does where
  // nothing is stored, and with a weights_budget.
  bool tuned = true;
  // How many runs submit() has under way at once. Each has its own inputs, outputs, intermediate tensors and
  // commands, and the session is made ready for all of them; weights and pipelines are shared. Not more than
  // 1 with a weights_budget.
  uint32_t in_flight = 1;
  // GPU timestamps around every task, for layer_times().
  bool profile = false;
  // Passes over the graph that are left out, of graph_passes(): to compare, or to work around one.
  std::vector<std::string> disabled_passes;
};

// Values in memory of the caller's, dense and row-major, of the type that the session's inputs() and
// outputs() name.
struct InputValues {
  std::string_view name;
  std::span<const std::byte> values;
  std::span<const int64_t> shape = {};  // empty: the one that the input has now
};
struct OutputValues {
  std::string_view name;
  std::span<std::byte> values;  // of exactly the output's size
};

class RunInFlight;
class RunsInFlight;
class Session;

// An inference that Session::submit() has begun. Movable, and independent of the session: one that is
// destroyed waits for its runs first, and they keep their results. Runs of one session may be used on
// different threads, each by one.
class VELLUM_API Run {
 public:
  Run() = default;  // none
  // Waits, so that nothing is written to the caller's memory any more.
  ~Run();
  Run(Run&& other) noexcept;
  Run& operator=(Run&& other) noexcept;

  bool valid() const { return run_ != nullptr; }
  // Whether wait() would return at once. Never waits for the device, but reads outputs, and runs what runs on
  // the host.
  bool done() const;
  // Until the inference is done, and those that were submitted before it, and its outputs are written. Throws
  // the Error that the run ended with (device_lost, out_of_memory, ...), each time.
  void wait() const;
  // Waits. Outputs that were kept, see Session::submit().
  Tensor output(std::string_view name) const;
  std::map<std::string, Tensor> outputs() const;

 private:
  friend class Session;
  RunInFlight& checked() const;
  std::shared_ptr<RunsInFlight> runs_;
  RunInFlight* run_ = nullptr;
};

// A model made ready on a device: planned, allocated, compiled, recorded. One thread at a time, but for
// submit().
//
// Inputs may change their shapes from run to run, within what the model leaves open (and the batch, its first
// dimension): the session makes itself ready for each combination of shapes that it meets. Sessions of one
// model on one device share the weights that they have in common, those of the same precision and storage;
// the weights are freed with the last such session.
class VELLUM_API Session {
 public:
  Session(const Device& device, const Model& model, const SessionOptions& options = {});
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  // Shapes are those of the last run or prepare(); before either, -1 for what is open. Outputs whose shapes
  // only a run tells have -1 until one came to its end, and then that run's.
  const std::vector<TensorInfo>& inputs() const;
  const std::vector<TensorInfo>& outputs() const;

  // Makes the session ready for these input shapes now rather than at the next run; inputs that are left out
  // keep the shape they have. What was set keeps its value where its shape stays.
  void prepare(const InputShapes& shapes);
  // Sets one input, by name, copying it: dtype as inputs() says, and any shape that the model admits. It
  // keeps its value over runs.
  void set_input(std::string_view name, const Tensor& tensor);
  // The same from memory of the caller's, dense and row-major: as many bytes as the input has in the shape
  // that it has now. Once the session is ready this takes no memory, and neither do run() and output() below.
  void set_input(std::string_view name, std::span<const std::byte> values);
  // One inference; returns when it is done. Every input must have been set. Error(invalid_argument) where the
  // model cannot run with the shapes of what was set; set other inputs and run again.
  void run();
  // Of the last run. Error(invalid_argument) before it for an output whose shape only a run tells.
  Tensor output(std::string_view name) const;
  void output(std::string_view name, std::span<std::byte> to) const;  // of exactly the output's size
  // All of the above in one call.
  std::map<std::string, Tensor> run(const std::map<std::string, Tensor>& inputs);

  // Begins an inference and returns as soon as the device has it; with SessionOptions::in_flight of them
  // under way, the oldest is waited for first (its results stay with its Run). While the device works, the
  // caller prepares the next inputs and reads the last outputs. Every input is given here, and copied; what
  // set_input() set is forgotten, and so is the last run(). The device works in the order of submitting.
  // Shapes other than those of the runs under way wait for all of these. With a weights_budget, and where a
  // model has operators that run on the host, part of the work is done in this call, in wait() and in done().
  //
  // May be called from several threads at once, beside done() and wait() of any Run; every other function of
  // the session wants it to itself, and first waits for what is under way.
  //
  // outputs: where to write them. The memory is the library's until wait() returns, done() says true or the
  // Run is destroyed. Outputs that are not named are not read, but for those whose shapes only a run tells:
  // these are kept for Run::output(). Once as many Runs have been under way as there will be, such a submit
  // takes no memory, nor does the wait for it.
  Run submit(std::span<const InputValues> inputs, std::span<const OutputValues> outputs);
  // Every output is kept for Run::output().
  Run submit(const std::map<std::string, Tensor>& inputs);

  // For the input shapes of the last run; weights for all that the session is ready for. Empty before it is
  // ready.
  MemoryReport memory() const;
  // Of the last run, in execution order. Needs SessionOptions::profile.
  std::vector<LayerTime> layer_times() const;
  size_t dispatch_count() const;
  size_t pipeline_count() const;
  size_t barrier_count() const;  // in the commands of one run: points where the device waits for itself
  // What the caller should know, e.g. operators that run on the host.
  const std::vector<std::string>& warnings() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The stages between model and session as text, one line per step, without a device: "graph", "program" or
// "plan". `caps` of the Android Baseline 2022 profile where no device is given.
VELLUM_API std::string describe(const Model& model, std::string_view stage,
                                const SessionOptions& options = {}, const Device* device = nullptr);

}  // namespace vellum
