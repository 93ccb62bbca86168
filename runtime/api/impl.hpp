// The members of the public interface's handles.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "api/guard.hpp"
#include "api/packed_model.hpp"
#include "compile/compile.hpp"
#include "exec/cooperative_check.hpp"
#include "exec/first_use_check.hpp"
#include "exec/weight_store.hpp"
#include "graph/graph.hpp"
#include "plan/submits.hpp"
#include "vellum/caps.hpp"
#include "vellum/vellum.hpp"
#include "vulkan/context.hpp"
#include "vulkan/glslang_compiler.hpp"

namespace vellum {

// Reaches what a handle of the public interface holds.
struct Handles {
  template <typename Handle>
  static const auto& impl(const Handle& handle) {
    return handle.impl_;
  }
  static const std::shared_ptr<ArenaPool>& pool(const MemoryPool& handle) { return handle.pool_; }
  static Device device(std::shared_ptr<Device::Impl> impl) { return Device(std::move(impl)); }
  static Model model(std::shared_ptr<const Model::Impl> impl) { return Model(std::move(impl)); }
};

// These throw Error(invalid_argument) for a handle that was moved from.
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
// Null for the default: no pool.
inline const std::shared_ptr<ArenaPool>& impl(const MemoryPool& pool) { return Handles::pool(pool); }

struct Model::Impl {
  explicit Impl(Graph imported, const std::shared_ptr<const packfile::File>& file = nullptr,
                bool trusts_shaders = false);

  Graph graph;                                // as imported: dimensions may be open
  std::shared_ptr<const PackedModel> packed;  // of a bundle, else null
  std::vector<bool> shape_inputs;             // find_shape_inputs()
  std::vector<TensorInfo> inputs, outputs;
};

struct Caps::Impl {
  DeviceCaps caps;
};

struct Device::Impl {
  std::shared_ptr<gpu::Context> context;
  CooperativeCheck cooperative_check;
  SelfCheck self_check = SelfCheck::automatic;
  FirstUseCheck first_use_check;

  // Called with each model that is compiled for the device, if it is set; tests compare these models.
  std::function<void(const CompiledModel&)> on_compiled;

  // Whether a shader that a bundle lacks can be compiled; tests set it.
  bool compiles_shaders = gpu::compiles_shaders();

  // Throws Error(unsupported) for `on` where no shaders can be compiled.
  void set_self_check(SelfCheck option);

  // The limits of submits of a session with these options.
  SubmitLimits submit_limits(const SessionOptions& options) const;
  // As compile_options() above, with the tuning table and the memory requirements of this device.
  CompileOptions compile_options(const SessionOptions& options);
  // All compilation for the device goes through these two. Without cooperative matrices where the device
  // computes them wrongly. A bundle that lacks shaders for this device, where none can be compiled, is
  // compiled for the caps that it was made for, if the device has at least these. `prepared`: of
  // prepare_graph(), with the capabilities of the device.
  CompiledModel compile(const Model& model, const CompileOptions& options, Stage last = Stage::barriers);
  CompiledModel compile(const Graph& prepared, const CompileOptions& options, Stage last = Stage::barriers);

  // The source of weights for a session with these options. With a memory budget: one of its own, whose
  // memory counts against it.
  std::shared_ptr<WeightSource> weights_for(const Model& model, const SessionOptions& options,
                                            std::shared_ptr<gpu::MemoryBudget> memory_budget = nullptr);

  // The measurements of tune() for this device, read from the cache folder at the first call. Never null.
  std::shared_ptr<const TuningTable> tuning();
  // Replaces them, also in the cache folder if there is one. Throws Error(io) if it cannot be written.
  void keep_tuning(TuningTable table);
  // The measurements that a session with these options uses; null: none.
  std::shared_ptr<const TuningTable> tuning_for(const SessionOptions& options);

  // The result of MemoryMeter::calibrate() for this host. The first call reads it from the cache folder.
  // Empty: this host was never calibrated.
  std::optional<ProcessTraits> calibration();

  // Whether each program of tune() has kernels alone that may be used: unknown ones are checked where
  // sessions check them.
  std::vector<bool> have_right_kernels(std::span<const Program> programs, Precision precision,
                                       Arithmetic arithmetic);

 private:
  bool checks_kernels() const;
  CompiledModel compile_for_device(const Graph& prepared, const CompileOptions& options, Stage last);
  // Without the kernels that the device computes wrongly.
  CompiledModel compile_checked(const Graph& prepared, const DeviceCaps& caps, CompileOptions options,
                                Stage last);
  // Nothing if the device cannot run the kernels of the bundle, or if it lacks shaders for these, too.
  std::optional<CompiledModel> compile_as_bundled(const Model& model, CompileOptions options, Stage last);

  // The weights that all sessions of the model on this device share: made at the first call, freed with the
  // last session.
  std::shared_ptr<WeightStore> weights_of(const Model& model);

  std::mutex mutex_;
  std::map<std::weak_ptr<const Model::Impl>, std::weak_ptr<WeightStore>, std::owner_less<>> weights_;
  std::shared_ptr<const TuningTable> tuning_;
  std::optional<std::optional<ProcessTraits>> calibration_;  // once it was looked for
};

// Throws Error(invalid_argument) for an enumeration out of range.
void check_choices(const SessionOptions& options);

// Converts a session's options to compile options: without measurements of a device, with modelled memory.
CompileOptions compile_options(const SessionOptions& options);

}  // namespace vellum
