// The members of the public interface's handles.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "api/first_use_check.hpp"
#include "api/guard.hpp"
#include "api/packed_model.hpp"
#include "compile/compile.hpp"
#include "exec/cooperative_check.hpp"
#include "exec/weight_store.hpp"
#include "graph/graph.hpp"
#include "plan/submits.hpp"
#include "vellum/caps.hpp"
#include "vellum/vellum.hpp"
#include "vulkan/context.hpp"
#include "vulkan/glslang_compiler.hpp"

namespace vellum {

// Gives the library access to the private members of public handles.
struct Handles {
  template <typename Handle>
  static const auto& impl(const Handle& handle) {
    return handle.impl_;
  }
  static const std::shared_ptr<ArenaPool>& pool(const MemoryPool& handle) { return handle.pool_; }
  static Device device(std::shared_ptr<Device::Impl> impl) { return Device(std::move(impl)); }
  static Model model(std::shared_ptr<const Model::Impl> impl) { return Model(std::move(impl)); }
};

// Return the object of a handle. Throw Error(invalid_argument) for a handle that was moved from.
inline const std::shared_ptr<Device::Impl>& impl(const Device& device) {
  held_by(Handles::impl(device), "device");
  return Handles::impl(device);
}
inline const std::shared_ptr<const Model::Impl>& impl(const Model& model) {
  held_by(Handles::impl(model), "model");
  return Handles::impl(model);
}
inline const std::shared_ptr<const Caps::Impl>& impl(const Caps& caps) {
  held_by(Handles::impl(caps), "Caps object");
  return Handles::impl(caps);
}
// Returns null for a default-constructed MemoryPool, which is no pool.
inline const std::shared_ptr<ArenaPool>& impl(const MemoryPool& pool) { return Handles::pool(pool); }

struct Model::Impl {
  explicit Impl(Graph imported, const std::shared_ptr<const packfile::File>& file = nullptr,
                bool trusts_shaders = false);
  Impl(Graph with_branches, InputTensors values_of_branches);

  Graph graph;                                // as imported: dimensions may be open
  std::shared_ptr<const PackedModel> packed;  // of a bundle; null for other models
  std::vector<bool> shape_inputs;             // the result of find_shape_inputs()
  // The values of inputs that chose the branches in `graph` (with_cache_capacity()). No others may be given.
  InputTensors branch_values;
  std::vector<TensorInfo> inputs, outputs;
  // The results of with_cache_capacity(), by SessionOptions::state, state_capacity and chosen branches.
  mutable std::mutex with_capacity_mutex;
  mutable std::map<std::tuple<std::string, uint32_t, std::map<std::string, bool>>, std::weak_ptr<const Impl>>
      with_capacity;
};

struct Caps::Impl {
  DeviceCaps caps;
};

struct Device::Impl {
  std::shared_ptr<gpu::Context> context;
  CooperativeCheck cooperative_check;
  SelfCheck self_check = SelfCheck::automatic;
  FirstUseCheck first_use_check;

  // If set, called with each model that is compiled for the device. Tests compare these models.
  std::function<void(const CompiledModel&)> on_compiled;

  // Whether a shader that a bundle lacks can be compiled; tests set it.
  bool compiles_shaders = gpu::compiles_shaders();

  // Returns the limits by which a session with these options divides its runs into submits.
  SubmitLimits submit_limits(const SessionOptions& options) const;
  // Converts options as compile_options() below does, and adds the tuning table and the memory requirements
  // of this device.
  CompileOptions compile_options(const SessionOptions& options);
  // All compilation for the device goes through these two functions. They avoid cooperative matrices on a
  // device that computes them wrongly. If a bundle lacks shaders for this device and none can be compiled,
  // the model is compiled for the caps that the bundle was made for, provided that the device has at least
  // these. `prepared` is the result of prepare_graph() with the device's capabilities.
  CompiledModel compile(const Model& model, const CompileOptions& options, Stage last = Stage::barriers);
  CompiledModel compile(const Graph& prepared, const CompileOptions& options, Stage last = Stage::barriers);
  // Returns the device's caps for kernels of this precision. If sessions on this device check kernels,
  // packs_halves has the value that the check found.
  DeviceCaps kernel_caps(Precision precision);

  // Returns the source of weights for a session with these options. A session with a memory budget gets a
  // source of its own, whose memory counts against the budget.
  std::shared_ptr<WeightSource> weights_for(const Model& model, const SessionOptions& options,
                                            std::shared_ptr<gpu::MemoryBudget> memory_budget = nullptr);

  // Returns the measurements of tune() for this device, which the first call reads from the cache folder.
  // Never null.
  std::shared_ptr<const TuningTable> tuning();
  // Replaces the measurements, also in the cache folder if there is one. Throws Error(io) if the file cannot
  // be written.
  void keep_tuning(TuningTable table);
  // Returns the measurements that a session with these options uses, or null.
  std::shared_ptr<const TuningTable> tuning_for(const SessionOptions& options);

  // Returns the result of MemoryMeter::calibrate() for this host, or nothing if it was never calibrated. The
  // first call reads it from the cache folder.
  std::optional<ProcessTraits> calibration();

  // Returns for each program of tune() whether all of its kernels may be used. Kernels that were not checked
  // yet are checked, if sessions on this device check kernels.
  std::vector<bool> have_right_kernels(std::span<const Program> programs, Precision precision,
                                       Arithmetic arithmetic);

 private:
  // Returns whether sessions on this device check kernels at their first use. bundle: the bundle with the
  // shaders of the checks; null: shaders are compiled.
  bool checks_kernels(const PackedModel* bundle) const;
  // Returns whether tensors may share memory, which it checks with the shaders of the bundle.
  bool may_share_memory(const PackedModel& bundle, const DeviceCaps& caps);
  // Returns DeviceCaps::packs_halves for kernels that are compiled for `caps`, which it checks in the same
  // way.
  bool packs_halves(const PackedModel& bundle, const DeviceCaps& caps, Precision precision);
  // Adds a warning if tensors must not share memory on this device. bundle: the model's, or null.
  void warn_of_memory(CompiledModel& model, const PackedModel* bundle);
  // Returns whether all kernels of a program may be used. Checks kernels that have no verdict yet. caps: the
  // caps that the program was compiled for.
  bool is_right(const Program& program, const DeviceCaps& caps, const CompileOptions& options,
                const PackedModel* bundle);
  CompiledModel compile_for_device(const Graph& prepared, const CompileOptions& options, Stage last);
  // Compiles without the kernels that failed their check on this device.
  CompiledModel compile_checked(const Graph& prepared, const DeviceCaps& caps, CompileOptions options,
                                Stage last);
  // Compiles without the kernels that failed their check, with no other shaders than those of a bundle.
  CompiledModel compile_with_right_kernels_of(const PackedModel& bundle, const Graph& prepared,
                                              const DeviceCaps& caps, CompileOptions options, Stage last);
  // Compiles the model of a bundle for these caps. Returns nothing if the bundle lacks shaders for them.
  std::optional<CompiledModel> compile_from_bundle(const Model& model, DeviceCaps caps,
                                                   CompileOptions options, Stage last);
  // Compiles the model of a bundle for the device, or for the caps of the bundle if the device has at least
  // these.
  std::optional<CompiledModel> compile_from_bundle(const Model& model, const CompileOptions& options,
                                                   Stage last);

  // Returns the weights that all sessions of the model on this device share. They are made at the first call
  // and freed with the last session.
  std::shared_ptr<WeightStore> weights_of(const Model& model);

  std::mutex mutex_;
  std::map<std::weak_ptr<const Model::Impl>, std::weak_ptr<WeightStore>, std::owner_less<>> weights_;
  std::shared_ptr<const TuningTable> tuning_;
  std::optional<std::optional<ProcessTraits>> calibration_;  // set by the first calibration()
};

// Throws Error(invalid_argument) for an enumeration value out of range.
void check_choices(const SessionOptions& options);

// Converts a session's options to compile options without a device: no measurements, modelled memory sizes.
CompileOptions compile_options(const SessionOptions& options);

}  // namespace vellum
