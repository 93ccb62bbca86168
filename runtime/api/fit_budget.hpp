// Finds the quickest way to run a model within a number of bytes of device memory. Sessions with a memory
// budget and memory_frontier() use this alone. Needs no device.
//
// A way is the options of a session without a memory budget. Its bytes are exact where the target is a device
// (estimate/device_footprint.hpp), its time is predicted (estimate/run_time.hpp). The ways, from the least
// change to the greatest:
//
//   as asked     as the options say
//   planning     in place, views and order all on; shared objects instead of naive, offsets instead of both
//   kernels      without what was tuned, without Winograd
//   storage      buffers instead of images that nobody asked for
//   tiles        layers in strips of rows or parts of a batch (passes/tile), with the bits of whole layers
//   streaming    weights that stream, as many of them on the device as fit beside the rest
//   fp16         only where the options allow it
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
  uint64_t bytes = 0;             // the most that a session allocates from Vulkan at a time
  uint64_t weights_bytes = 0;     // of these, lasting
  uint64_t activation_bytes = 0;  // inputs, outputs, intermediates and workspace, lasting
  uint64_t streamed_bytes = 0;    // of weights, in every run
  double milliseconds = 0;        // of a run
  uint32_t tiled_layers = 0;      // that run in strips
};

struct FittedModel {
  Way way;
  std::shared_ptr<const CompiledModel> compiled;
};

class BudgetFitter {
 public:
  // Refers to `target`. The options' own memory budget is ignored. `progress` may be null.
  BudgetFitter(const Target& target, const Model& model, const SessionOptions& options,
               const Progress* progress = nullptr);

  // The quickest of the ways that take at most `bytes`; null if there is none.
  const FittedModel* quickest(uint64_t bytes);
  // The way that takes least of those that the search finds.
  const FittedModel& smallest();
  // As the options say, whatever it takes.
  const FittedModel& as_asked() { return resident(0); }

 private:
  struct Combination {
    SessionOptions options;
    Tiling tiling = {};
  };

  bool uses_tuning(const SessionOptions& options) const;
  std::vector<Combination> combinations(const SessionOptions& asked) const;
  bool may_stream(const SessionOptions& options) const;
  // Adds combinations with tiles, once: for each of those that need least otherwise.
  void add_tiles();

  const Graph& prepared(const SessionOptions& options);
  CompileOptions compile_options(const Combination& combination) const;
  FittedModel assess(const Combination& combination, std::shared_ptr<const CompiledModel> compiled) const;
  const FittedModel& resident(size_t index);
  // Null if the weights cannot be streamed so.
  const FittedModel* streamed(size_t index, uint64_t weights_budget);
  // As quickest(), without looking for smallest().
  const FittedModel* found_within(uint64_t bytes);
  const FittedModel* quickest_streamed(size_t index, uint64_t bytes);
  const FittedModel* smallest_streamed(size_t index);

  const Target& target_;
  const Model model_;
  const Progress* progress_;
  std::vector<Combination> combinations_;  // the first: as asked; tiles come last
  // Those with tiles, by what they have in common, ascending by the time that tiles should add; empty until
  // add_tiles().
  std::vector<std::vector<size_t>> tiled_;
  size_t whole_ = 0;                     // combinations without tiles
  std::map<Precision, Graph> prepared_;  // without a weights budget
  // The results of assess(), by combination and weights budget (0: all weights resident).
  std::map<std::pair<size_t, uint64_t>, std::optional<FittedModel>> known_;
  const FittedModel* smallest_ = nullptr;
};

// Returns the quickest way within options.memory_budget. Throws Error(out_of_memory), with the smallest
// budget that suffices and its predicted time, if there is none; Error(invalid_argument) with options that a
// memory budget excludes.
FittedModel fit_budget(const Target& target, const Model& model, const SessionOptions& options,
                       const Progress* progress = nullptr);

// Throws Error(invalid_argument) for options that a memory budget excludes.
void check_memory_budget(const SessionOptions& options);

}  // namespace vellum
