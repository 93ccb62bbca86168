#include "compile/compile.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "compile/float_boundaries.hpp"
#include "compile/joined_storages.hpp"
#include "compile/tiles.hpp"
#include "compile/tuned_storages.hpp"
#include "cost/device_traits.hpp"
#include "cost/registers.hpp"
#include "kernels/framework/index_limits.hpp"
#include "kernels/framework/integer_limits.hpp"
#include "kernels/framework/lowering.hpp"
#include "kernels/fused/fused_kernels.hpp"
#include "passes/caches/growing_caches.hpp"
#include "passes/caches/pack_integer_caches.hpp"
#include "passes/caches/quantize_caches.hpp"
#include "passes/split_large_layers.hpp"
#include "plan/dispatch_model.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

constexpr std::array<std::string_view, 4> kStageNames{"graph", "program", "plan", "barriers"};

// Returns whether layers may be fused. They may not in strips, nor with a budget for weights, because a task
// needs all of its weights at once.
bool may_fuse_layers(const CompileOptions& options) {
  return options.fuse_layers && options.tiling.empty() && options.weights_budget == 0;
}

LoweringOptions lowering_options(const Graph& graph, const CompileOptions& options) {
  LoweringOptions lowering{.precision = options.precision,
                           .storage = options.storage,
                           // Layers were split for a weights budget by the size of their weights, but
                           // Winograd's transformed weights are several times as large.
                           .winograd = options.weights_budget > 0 ? Winograd::off : options.winograd,
                           .arithmetic = options.arithmetic,
                           .tuning = options.tuning.get(),
                           .wrong = options.wrong_kernels.get(),
                           .wrong_nodes = options.wrong_nodes,
                           .device_regions = options.device_regions,
                           .fuse_epilogues = may_fuse_layers(options),
                           .states = state_pairs(graph, options.state)};
  if (options.tuning && options.storage == StorageChoice::automatic)
    lowering.value_storages = tuned_storages(*options.tuning, graph, options.precision);
  return lowering;
}

// Channels of the largest tile of a kernel (four slices) and of the slice that it reads ahead.
constexpr int64_t kTileChannels = 20;

// Larger tables of Gather stay on the host: a run reads only a few rows, and streaming the table would take
// longer than a host partition.
constexpr uint64_t kLargestStreamedTable = 1 << 20;

// Returns the sizes beyond which layers are split. Weights are bound as one range. Within a budget, a part of
// a layer is on the device together with the previous part, which still computes while this part is copied.
LayerLimits layer_limits(const DeviceCaps& caps, const CompileOptions& options) {
  const uint64_t most = caps.max_storage_buffer_range, budget = options.weights_budget;
  if (budget == 0) return {most, most, kTileChannels, most};
  return {std::min(most, budget), std::min(most, budget / 2), budget / 2 < most ? 0 : kTileChannels,
          kLargestStreamedTable};
}

// Returns whether images may be folded. They may not if compilers emit scalar loads of weights from buffers:
// with slices in columns, compilers do not see that all invocations process the same slice
// (docs/gpu_compilers.md). They also may not if a kernel on folded images is wrong, because lowering, which
// avoids wrong kernels, runs before the fold.
bool may_fold(const DeviceCaps& caps, const CompileOptions& options) {
  if (device_traits(caps).weights_in_buffers) return false;
  return !options.wrong_kernels || std::ranges::none_of(*options.wrong_kernels, [](const auto& kernel) {
    return kernel.second.uses_folded_images();
  });
}

// They may not if a kernel on them is wrong, for the same reason.
bool may_access_rows(const CompileOptions& options) {
  const auto is_wrong = [](const auto& kernel) { return kernel.second.accesses_rows; };
  return options.row_texels &&
         (!options.wrong_kernels || std::ranges::none_of(*options.wrong_kernels, is_wrong));
}

void arrange_program(Program& program, const DeviceCaps& caps, const CompileOptions& options) {
  // Memory sizes are modelled here even if memory_rules asks the device, so that a device and its caps file
  // give the same program.
  arrange(program,
          {.mode = options.plan.mode,
           .in_place = options.in_place,
           .views = options.views,
           .reorder = options.reorder,
           .fold = may_fold(caps, options),
           .row_texels = may_access_rows(options) ? row_texel_limits(caps) : RowTexelLimits{}},
          caps.tensor_offset_alignment(), modelled_rules(caps));
}

bool may_use_buffers(const DeviceCaps& caps, const CompileOptions& options) {
  return options.storage == StorageChoice::automatic && options.views && caps.prefers_images &&
         device_traits(caps).joins_in_buffers;
}

// The bytes of a program's intermediate tensors, and its predicted time.
struct Footprint {
  uint64_t bytes = 0;
  double ms = 0;
};

Footprint footprint_of(const Program& program, const DeviceCaps& caps, const CompileOptions& options) {
  const MemoryPlan plan = plan_memory(program, options.plan, modelled_rules(caps));
  const std::vector<double> ms = predicted_milliseconds(program, synchronise(program, plan), caps);
  return {plan.planned_bytes, std::accumulate(ms.begin(), ms.end(), 0.0)};
}

// Returns whether loops load more slices together if the pixels of a tile are contiguous in memory.
bool gains_by_contiguous_pixels(const DeviceCaps& caps) {
  constexpr OutputTile kTile{4, 2};
  return slices_ahead(caps, kTile, false, true) > slices_ahead(caps, kTile, false, false);
}

// Moves some tensors from images to buffers, in three steps:
// 1. tensors whose copies become views, unless intermediate tensors then take much more memory (a view keeps
//    the memory of its whole tensor alive);
// 2. inputs of 1x1 convolutions, so that the pixels of each tile are contiguous;
// 3. matrices.
// Steps 2 and 3 are kept only if the program is predicted to be clearly faster. The margin of step 3 is
// larger, because loops over matrices in buffers are slower than the model predicts.
void put_in_buffers(CompiledModel& model, const DeviceCaps& caps, const CompileOptions& options,
                    LoweringOptions lowering) {
  constexpr double kWorthBuffers = 0.99, kWorthMatrices = 0.98;
  Footprint best = footprint_of(model.program, caps, options);
  const uint64_t most_bytes = best.bytes + best.bytes / 3;
  lowering.weights_in_default_storage = true;
  std::vector<StorageChoice> storages = joined_storages(model.graph);
  put_vectors_in_buffers(model.graph, storages);
  const auto take_if_quicker = [&](const std::vector<StorageChoice>& choice, double share) {
    if (choice.empty() || choice == lowering.value_storages) return false;
    std::vector<StorageChoice> before = std::exchange(lowering.value_storages, choice);
    Program program = lower(model.graph, caps, lowering);
    arrange_program(program, caps, options);
    const Footprint footprint = footprint_of(program, caps, options);
    if (footprint.bytes > most_bytes || footprint.ms > share * best.ms) {
      lowering.value_storages = std::move(before);
      return false;
    }
    best = footprint;
    model.program = std::move(program);
    return true;
  };
  if (!take_if_quicker(storages, std::numeric_limits<double>::infinity())) storages.clear();
  std::vector<StorageChoice> products = storages;
  // Loading fp16 elements from buffers takes more instructions.
  if (options.precision == Precision::fp32 && gains_by_contiguous_pixels(caps))
    use_buffers_for_products(model.graph, products);
  if (take_if_quicker(products, kWorthBuffers)) storages = std::move(products);
  put_matrices_in_buffers(model.graph, storages);
  take_if_quicker(storages, kWorthMatrices);
}

void require_no_host(const Program& program) {
  for (const Task& task : program.tasks)
    if (task.host)
      throw Error(ErrorCode::unsupported, describe(task.host->graph->nodes.front()) +
                                              " runs on the host, which host_fallback = false forbids");
}

// Lowers the graph to the program. With a tiling, also replaces the graph by the graph in strips.
void add_program(CompiledModel& model, const DeviceCaps& caps, const CompileOptions& options) {
  const LoweringOptions lowering = lowering_options(model.graph, options);
  if (options.tiling.empty()) {
    model.program = lower(model.graph, caps, lowering);
  } else {
    TiledLowering::Result tiled = TiledLowering(model.graph, caps, lowering).lower(options.tiling);
    model.graph = std::move(tiled.graph);
    model.program = std::move(tiled.program);
  }
  if (!options.host_fallback) require_no_host(model.program);
  arrange_program(model.program, caps, options);
  if (options.tiling.empty() && lowering.value_storages.empty() && may_use_buffers(caps, options))
    put_in_buffers(model, caps, options, lowering);
  limit_integer_inputs(model.program, model.graph);
  limit_indices(model.program, model.graph);
}

}  // namespace

std::string_view name(Stage stage) { return kStageNames[static_cast<size_t>(stage)]; }

Stage stage_from_name(std::string_view name) {
  for (size_t i = 0; i < kStageNames.size(); ++i)
    if (kStageNames[i] == name) return static_cast<Stage>(i);
  throw Error(ErrorCode::invalid_argument,
              "stage '" + std::string(name) + "' is none of graph, program, plan and barriers");
}

Graph prepare_graph(const Graph& imported, const DeviceCaps& caps, const CompileOptions& options) {
  const bool has_growing_caches = has_cache_length(imported);
  Graph graph =
      optimise(has_growing_caches ? fix_cache_capacity(imported, state_pairs(imported, options.state),
                                                       options.input_shapes, options.input_values)
                                  : imported,
               options.input_shapes, options.disabled_passes, options.input_values);
  if (!options.state.empty()) pack_integer_caches(graph, state_pairs(graph, options.state));
  if (has_growing_caches) {
    limit_attention_to_length(graph, state_pairs(graph, options.state));
    // Masks of caches follow the length, which attention has only now.
    if (std::ranges::count(options.disabled_passes, "fuse_causal_masks") == 0) fuse_causal_masks(graph);
  }
  if (options.state_precision == StatePrecision::int8)
    quantize_caches(graph, state_pairs(graph, options.state));
  return split_for_budget(std::move(graph), caps, options);
}

Graph split_for_budget(Graph prepared, const DeviceCaps& caps, const CompileOptions& options) {
  split_large_layers(prepared, layer_limits(caps, options), options.precision == Precision::fp16 ? 2 : 4);
  return prepared;
}

CompiledModel compile_prepared(Graph graph, const DeviceCaps& caps, const CompileOptions& options,
                               Stage last) {
  check(options.progress);
  CompiledModel model;
  model.graph = std::move(graph);
  if (may_fuse_layers(options)) fuse(model.graph, caps, options.precision, options.wrong_kernels.get());
  if (last >= Stage::program || !options.tiling.empty()) add_program(model, caps, options);
  check(options.progress);
  if (last >= Stage::plan)
    model.plan = plan_memory(model.program, options.plan,
                             options.memory_rules.need ? options.memory_rules : modelled_rules(caps));
  if (last >= Stage::barriers) model.barriers = synchronise(model.program, model.plan);
  return model;
}

std::vector<PredictedTiling> tilings(const Graph& prepared, const DeviceCaps& caps,
                                     const CompileOptions& options) {
  const TiledLowering lowering(prepared, caps, lowering_options(prepared, options));
  TileChooser chooser(lowering.reads(), lowering.costs());
  // The ratio of successive limits on live bytes. The first limit is this share of the bytes without strips.
  constexpr double kStep = 0.8;
  using Halo = TileChooser::Halo;
  std::vector<TileChooser::Choice> found;
  bool any = true;
  for (double bytes = kStep * static_cast<double>(chooser.whole_peak()); any && bytes >= 1; bytes *= kStep) {
    check(options.progress);
    any = false;
    // Without kept rows the memory plan is closer to the estimate of live bytes.
    for (const Halo halo : {Halo::mostly_kept, Halo::kept, Halo::computed}) {
      std::optional<TileChooser::Choice> choice = chooser.quickest(static_cast<uint64_t>(bytes), halo);
      const auto is_known = [&](const TileChooser::Choice& other) { return other.tiling == choice->tiling; };
      any = any || choice;
      if (choice && !choice->tiling.empty() && std::ranges::none_of(found, is_known))
        found.push_back(std::move(*choice));
    }
  }
  // The chooser estimates times to choose the strips for one limit. The programs show which tiling is
  // quicker.
  std::vector<PredictedTiling> tilings;
  for (TileChooser::Choice& choice : found) {
    check(options.progress);
    try {
      auto [graph, program] = lowering.lower(choice.tiling);
      arrange_program(program, caps, options);
      const std::vector<TaskSync> no_barriers(program.tasks.size());
      const std::vector<double> tasks =
          predicted_milliseconds(program, no_barriers, caps, shares_of_x(graph, program));
      tilings.push_back({std::move(choice.tiling), std::accumulate(tasks.begin(), tasks.end(), 0.0)});
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported) throw;  // strips that would round otherwise
    }
  }
  std::ranges::stable_sort(tilings, {}, &PredictedTiling::predicted_ms);
  return tilings;
}

CompiledModel compile(const Graph& imported, const DeviceCaps& caps, const CompileOptions& options,
                      Stage last) {
  return compile_prepared(prepare_graph(imported, caps, options), caps, options, last);
}

CompiledModel compile_program(Program program, const PlanMemoryOptions& options, const MemoryRules& rules) {
  CompiledModel model;
  model.program = std::move(program);
  model.plan = plan_memory(model.program, options, rules);
  model.barriers = synchronise(model.program, model.plan);
  return model;
}

std::string to_text(const CompiledModel& model, Stage stage) {
  switch (stage) {
    case Stage::graph:
      return to_text(model.graph) + to_text(model.graph, float_boundaries(model.graph));
    case Stage::program:
      return to_text(model.program);
    case Stage::plan:
      return to_text(model.plan, model.program);
    case Stage::barriers:
      return to_text(model.barriers, model.program);
  }
  return {};
}

}  // namespace vellum
