// Finds the fastest configuration of a model that fits into a number of bytes of device memory. Sessions with
// a memory budget and memory_frontier() use it. It needs no device.
//
// A configuration (Way) is the options of a session without a memory budget. Its bytes are exact where the
// target is a device (estimate/device_footprint.hpp); its time is predicted (estimate/run_time.hpp). The
// changes of the caller's options that are tried, from the smallest to the largest:
//
//   as asked     the options unchanged
//   planning     in_place, views and reorder all on; mode shared objects instead of naive, or mode offsets
//   kernels      no tuned kernels, no Winograd
//   storage      buffers instead of images, where the caller left the storage open
//   tiles        layers in strips of rows or parts of a batch (passes/tile); results are the same bit for bit
//   streaming    weights are streamed; as many as fit stay on the device
//   fp16         only if the options allow it
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "api/target.hpp"
#include "passes/tile/strips.hpp"

namespace vellum {

struct Way {
  SessionOptions options;
  uint64_t bytes = 0;             // the peak of what a session allocates from Vulkan
  uint64_t weights_bytes = 0;     // persistent part of `bytes`: weights
  uint64_t activation_bytes = 0;  // persistent part of `bytes`: inputs, outputs, intermediates, workspace
  uint64_t streamed_bytes = 0;    // bytes of weights that are copied in every run
  // Predicted time of a run. It is not less than the time of the options as asked, nor than the time of the
  // same combination without streaming.
  double milliseconds = 0;
  uint32_t tiled_layers = 0;  // layers that run in strips
};

struct FittedModel {
  Way way;
  std::shared_ptr<const CompiledModel> compiled;
};

class BudgetFitter {
 public:
  // Keeps a reference to `target`. The options' own memory budget is ignored. `progress` may be null.
  BudgetFitter(const Target& target, const Model& model, const SessionOptions& options,
               const Progress* progress = nullptr);

  // Returns the fastest configuration that takes at most `bytes`, or null.
  const FittedModel* quickest(uint64_t bytes);
  // Returns the configuration that takes the fewest bytes.
  const FittedModel& smallest();
  // Returns the caller's options unchanged, even if they exceed every budget.
  const FittedModel& as_asked() { return resident(0); }

 private:
  struct Combination {
    SessionOptions options;
    Tiling tiling = {};
    double least_ms = 0;  // a run is predicted to take at least this
  };

  bool uses_tuning(const SessionOptions& options) const;
  std::vector<Combination> combinations(const SessionOptions& asked) const;
  bool may_stream(const SessionOptions& options) const;
  // At the first call, adds combinations with tiles. They extend the combinations that need the fewest bytes
  // without tiles.
  void add_tiles();

  const Graph& prepared(const SessionOptions& options);
  CompileOptions compile_options(const Combination& combination) const;
  FittedModel assess(const Combination& combination, std::shared_ptr<const CompiledModel> compiled) const;
  const FittedModel& resident(size_t index);
  // Returns null if the weights cannot be streamed within this budget.
  const FittedModel* streamed(size_t index, uint64_t weights_budget);
  // Returns what quickest() returns, but does not search for smallest().
  const FittedModel* found_within(uint64_t bytes);
  const FittedModel* quickest_streamed(size_t index, uint64_t bytes);
  // Returns this combination with as many weights on the device as fit, the others streamed, or null.
  const FittedModel* streamed_within(size_t index, uint64_t bytes);
  // Returns the smallest configuration with streamed weights that is found within `bytes`. Every
  // configuration with resident weights takes more than `bytes`.
  const FittedModel* streamed_below(uint64_t bytes);
  const FittedModel* smallest_streamed(size_t index);

  const Target& target_;
  const Model model_;
  const Progress* progress_;
  std::vector<Combination> combinations_;  // the first is the caller's; those with tiles are last
  // Combinations with tiles, grouped by the combination that they extend, in ascending order of least_ms.
  // Empty until add_tiles().
  std::vector<std::vector<size_t>> tiled_;
  size_t whole_ = 0;                     // number of combinations without tiles
  double asked_ms_ = 0;                  // predicted time of the first combination, once it is known
  std::map<Precision, Graph> prepared_;  // graphs prepared without a weights budget
  // The results of assess(), by combination and weights budget (0: all weights resident).
  std::map<std::pair<size_t, uint64_t>, std::optional<FittedModel>> known_;
  const FittedModel* smallest_ = nullptr;
};

// Returns the fastest configuration within options.memory_budget. If there is none, throws
// Error(out_of_memory), which states the smallest budget that suffices and its predicted time. Throws
// Error(invalid_argument) for options that a memory budget excludes.
FittedModel fit_budget(const Target& target, const Model& model, const SessionOptions& options,
                       const Progress* progress = nullptr);

// Throws Error(invalid_argument) for options that a memory budget excludes.
void check_memory_budget(const SessionOptions& options);

}  // namespace vellum
