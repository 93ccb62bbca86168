// What the handles of the public interface hold.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "api/packed_model.hpp"
#include "exec/cooperative_check.hpp"
#include "exec/weight_store.hpp"
#include "graph/graph.hpp"
#include "kernels/framework/lowering.hpp"
#include "plan/memory_plan.hpp"
#include "vellum/caps.hpp"
#include "vellum/vellum.hpp"
#include "vulkan/context.hpp"

namespace vellum {

struct Model::Impl {
  explicit Impl(Graph imported, const std::shared_ptr<const packfile::File>& file = nullptr);

  Graph graph;                                // as imported: dimensions may be open
  std::shared_ptr<const PackedModel> packed;  // of a packed model, else null
  std::vector<TensorInfo> inputs, outputs;
};

struct Caps::Impl {
  DeviceCaps caps;
};

struct Device::Impl {
  std::shared_ptr<gpu::Context> context;
  CooperativeCheck cooperative_check;

  // Where a session with these options gets the model's weights.
  std::shared_ptr<WeightSource> weights_for(const Model& model, const SessionOptions& options);

  // What tune() found out for this device: read from the cache folder at the first call. Never null.
  std::shared_ptr<const TuningTable> tuning();
  // Replaces it, in the cache folder too, where there is one. Error(io) if that cannot be written.
  void keep_tuning(TuningTable table);
  // What a session with these options would use of it: null for nothing.
  std::shared_ptr<const TuningTable> tuning_for(const SessionOptions& options);

 private:
  // What the sessions of the model on this device share; made at the first call, gone with the last session.
  std::shared_ptr<WeightStore> weights_of(const Model& model);

  std::mutex mutex_;
  std::map<std::weak_ptr<const Model::Impl>, std::weak_ptr<WeightStore>, std::owner_less<>> weights_;
  std::shared_ptr<const TuningTable> tuning_;
};

// Model -> Program for the given options: the one way from the file to what runs. `tuning`: what
// Device::Impl::tuning_for() gives, null without a device.
Program make_program(const Graph& imported, const DeviceCaps& caps, const SessionOptions& options,
                     const TuningTable* tuning = nullptr);
Program make_program(const Model& model, const DeviceCaps& caps, const SessionOptions& options,
                     const TuningTable* tuning = nullptr);
// In two steps.
Graph prepare_graph(const Graph& imported, const SessionOptions& options);
Program lower_and_arrange(const Graph& graph, const DeviceCaps& caps, const SessionOptions& options,
                          const TuningTable* tuning);

// Stages "program" and "plan" as text.
std::string describe_program(const Model& model, std::string_view stage, const SessionOptions& options,
                             const DeviceCaps& caps, const MemoryRules& rules,
                             const TuningTable* tuning = nullptr);

// What planning asks: of the device, or without one of the Android Baseline 2022 profile.
MemoryRules memory_rules(const Device* device);
PlanMemoryOptions plan_options(const SessionOptions& options);

}  // namespace vellum
