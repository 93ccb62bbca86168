#include "api/fit_budget.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ranges>
#include <string>
#include <utility>

#include "estimate/device_footprint.hpp"
#include "estimate/run_time.hpp"

namespace vellum {
namespace {

// At least 1/64 of the weights stays on the device: with less, layers are split into very many parts.
constexpr uint64_t kSmallestShare = 64;
// The shares of the weights that stay on the device while others stream, in 64ths. They are the same for
// every budget, so that a larger budget has all configurations of a smaller one.
constexpr uint64_t kShares[] = {63, 62, 60, 56, 52, 48, 44, 40, 36, 32, 28, 24, 20,
                                16, 14, 12, 10, 8,  7,  6,  5,  4,  3,  2,  1};
// Steps of the bisection between a sufficient and an insufficient weights budget; then steps of 1/256 of all
// bytes.
constexpr int kBisections = 4, kSmallSteps = 16;
// The last steps down to the smallest budget. They become shorter until one byte less is insufficient.
constexpr int kLastSteps = 32;

bool is_better(const FittedModel& a, const FittedModel* b) {
  if (!b) return true;
  return std::pair(a.way.milliseconds, a.way.streamed_bytes) <
         std::pair(b->way.milliseconds, b->way.streamed_bytes);
}

bool is_smaller(const FittedModel& a, const FittedModel* b) { return !b || a.way.bytes < b->way.bytes; }

// Each of these functions changes options, and returns whether it changed anything.

bool plan_for_least(SessionOptions& options) {
  PlanningOptions& planning = options.planning;
  const bool changes = !planning.in_place || !planning.views || !planning.reorder;
  planning.in_place = planning.views = planning.reorder = true;
  return changes;
}

bool replace_mode(SessionOptions& options, MemoryMode from, MemoryMode to) {
  if (options.memory != from) return false;
  options.memory = to;
  options.planning.strategy = "best";  // the strategy may not exist in the other mode
  return true;
}

bool has_winograd(const SessionOptions& options) {
  return options.winograd == Winograd::f2 || options.winograd == Winograd::f4;
}

// Returns whether split layers may round in another way than whole layers: a decomposed
// squeeze-and-excitation, and residuals that are added in fp16 (docs/streaming.md).
bool may_change_bits(const Graph& whole, const Graph& split, Precision precision) {
  const auto excitations = [](const Graph& graph) {
    return std::ranges::count_if(graph.nodes,
                                 [](const Node& node) { return node.op->type() == "SqueezeExcite"; });
  };
  return excitations(split) < excitations(whole) ||
         (precision == Precision::fp16 && split.nodes.size() != whole.nodes.size());
}

// Returns a phrase with the predicted time within the smallest budget. Empty for a network that runs on the
// host, whose time is not predicted.
std::string cost_of(const Way& least, const Way& asked) {
  if (asked.milliseconds == 0) return {};
  std::array<char, 128> text{};
  std::snprintf(text.data(), text.size(),
                ", in which a run is predicted to take %.3g ms, %.2f times as long as without a budget",
                least.milliseconds, least.milliseconds / asked.milliseconds);
  return text.data();
}

}  // namespace

BudgetFitter::BudgetFitter(const Target& target, const Model& model, const SessionOptions& options,
                           const Progress* progress)
    : target_(target), model_(model), progress_(progress) {
  SessionOptions asked = options;
  asked.memory_budget = 0;
  combinations_ = combinations(asked);
  whole_ = combinations_.size();
}

bool BudgetFitter::uses_tuning(const SessionOptions& options) const {
  const std::shared_ptr<const TuningTable> table = target_.compile_options(options).tuning;
  return table && !table->empty();
}

std::vector<BudgetFitter::Combination> BudgetFitter::combinations(const SessionOptions& asked) const {
  std::vector<Combination> all{{asked}};
  const auto also = [&](auto change) {
    for (size_t i = 0, count = all.size(); i < count; ++i) {
      Combination changed = all[i];
      if (change(changed.options)) all.push_back(std::move(changed));
    }
  };
  also(plan_for_least);
  also([](SessionOptions& options) {
    return replace_mode(options, MemoryMode::naive, MemoryMode::shared_objects);
  });
  also([](SessionOptions& options) {
    return replace_mode(options, MemoryMode::shared_objects, MemoryMode::offsets);
  });
  const bool plain = !uses_tuning(asked) && !has_winograd(asked);
  also([plain](SessionOptions& options) {
    options.tuned = false;
    options.winograd = Winograd::off;
    return !plain;
  });
  const bool chooses_images = target_.caps().prefers_images;
  also([chooses_images](SessionOptions& options) {
    return options.storage == StorageChoice::automatic && chooses_images &&
           (options.storage = StorageChoice::buffer, true);
  });
  also([](SessionOptions& options) {
    return options.budget_allows_fp16 && options.precision == Precision::fp32 &&
           (options.precision = Precision::fp16, true);
  });
  return all;
}

// Returns whether weights may stream: only with one run in flight, and without tuned kernels and Winograd.
bool BudgetFitter::may_stream(const SessionOptions& options) const {
  return options.in_flight == 1 && !has_winograd(options) && !uses_tuning(options);
}

void BudgetFitter::add_tiles() {
  if (!tiled_.empty()) return;
  for (size_t i = 0; i < whole_; ++i) {
    const SessionOptions options = combinations_[i].options;
    SessionOptions least = options;
    const bool plans_for_least = !plan_for_least(least) && options.memory == MemoryMode::offsets;
    if (!plans_for_least || uses_tuning(options) || has_winograd(options)) continue;
    std::vector<size_t>& group = tiled_.emplace_back();
    const CompileOptions compile_options = target_.compile_options(options);
    for (PredictedTiling& tiling : tilings(prepared(options), target_.caps(), compile_options)) {
      group.push_back(combinations_.size());
      combinations_.push_back({options, std::move(tiling.nodes), tiling.predicted_ms});
    }
  }
  if (tiled_.empty()) tiled_.emplace_back();
}

CompileOptions BudgetFitter::compile_options(const Combination& combination) const {
  CompileOptions options = target_.compile_options(combination.options);
  options.device_regions = false;
  options.tiling = combination.tiling;
  // The planner's timed search is off: strips have many tensors, and plans would depend on the load of the
  // machine.
  if (!options.tiling.empty()) options.plan.search_budget = {};
  return options;
}

const Graph& BudgetFitter::prepared(const SessionOptions& options) {
  const auto found = prepared_.find(options.precision);
  if (found != prepared_.end()) return found->second;
  return prepared_[options.precision] = target_.prepare(model_, target_.compile_options(options));
}

FittedModel BudgetFitter::assess(const Combination& combination,
                                 std::shared_ptr<const CompiledModel> compiled) const {
  const SessionOptions& options = combination.options;
  const EstimateInputs inputs{
      *compiled,         impl(model_)->graph, target_.caps(), target_.memory_rules(), options.weights_budget,
      options.in_flight, impl(model_)->packed};
  const DeviceFootprint memory = device_footprint(inputs);
  FittedModel fitted;
  fitted.way.bytes = memory.most();
  fitted.way.weights_bytes = memory.weights.allocated;
  fitted.way.activation_bytes = memory.lasting() - memory.weights.allocated;
  fitted.way.streamed_bytes = memory.weights.stream.streamed_bytes;
  // A configuration is never predicted to be faster than the one that it changes to save bytes.
  fitted.way.milliseconds =
      std::max({predicted_run(inputs, memory.weights).ms, asked_ms_, combination.least_ms});
  for (const TiledNodes& tiled : combination.tiling)
    fitted.way.tiled_layers += static_cast<uint32_t>(tiled.end - tiled.first);
  fitted.way.options = options;
  fitted.compiled = std::move(compiled);
  return fitted;
}

const FittedModel& BudgetFitter::resident(size_t index) {
  std::optional<FittedModel>& known = known_[{index, 0}];
  if (!known) {
    check(progress_);
    const Combination& combination = combinations_[index];
    known = assess(combination, std::make_shared<const CompiledModel>(target_.compile(
                                    prepared(combination.options), compile_options(combination))));
    if (index == 0) asked_ms_ = known->way.milliseconds;
  }
  return *known;
}

const FittedModel* BudgetFitter::streamed(size_t index, uint64_t weights_budget) {
  const auto [entry, added] = known_.try_emplace({index, weights_budget});
  std::optional<FittedModel>& known = entry->second;
  if (!added) return known ? &*known : nullptr;
  check(progress_);
  Combination combination = combinations_[index];
  combination.options.weights_budget = weights_budget;
  combination.least_ms = resident(index).way.milliseconds;
  const CompileOptions options = compile_options(combination);
  const Graph& whole = prepared(combination.options);
  Graph graph = split_for_budget(whole, target_.caps(), options);
  if (may_change_bits(whole, graph, options.precision)) return nullptr;
  // The tiling is for layers that are not split.
  if (!options.tiling.empty() && graph.nodes.size() != whole.nodes.size()) return nullptr;
  try {
    // Unless a layer was split, the program is that of the resident weights.
    known = assess(combination,
                   graph.nodes.size() == whole.nodes.size()
                       ? resident(index).compiled
                       : std::make_shared<const CompiledModel>(target_.compile(std::move(graph), options)));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory) throw;  // a layer that cannot be split
  }
  return known ? &*known : nullptr;
}

// The weights get the bytes that everything else leaves. The first guess is too large, because staging memory
// grows with the budget of weights.
const FittedModel* BudgetFitter::streamed_within(size_t index, uint64_t bytes) {
  const uint64_t rest = resident(index).way.activation_bytes;
  for (uint64_t weights = bytes > rest ? bytes - rest : 0; weights > 0;) {
    const FittedModel* fitted = streamed(index, weights);
    if (!fitted || fitted->way.bytes <= bytes) return fitted;
    weights -= std::min(weights, fitted->way.bytes - bytes);
  }
  return nullptr;
}

// Tries each share of resident weights, because with a smaller share the remaining weights may arrive in
// time.
const FittedModel* BudgetFitter::quickest_streamed(size_t index, uint64_t bytes) {
  const uint64_t all = resident(index).way.weights_bytes, rest = resident(index).way.activation_bytes;
  const FittedModel* best = nullptr;
  for (const uint64_t share : kShares) {
    const uint64_t weights = all / kSmallestShare * share;
    if (weights == 0 || rest + weights > bytes) continue;
    const FittedModel* fitted = streamed(index, weights);
    if (fitted && fitted->way.bytes <= bytes && is_better(*fitted, best)) best = fitted;
  }
  return best;
}

const FittedModel* BudgetFitter::smallest_streamed(size_t index) {
  const uint64_t all = resident(index).way.weights_bytes;
  const FittedModel* best = nullptr;
  uint64_t enough = all, too_small = 0;
  const auto attempt = [&](uint64_t weights) {
    const FittedModel* fitted = streamed(index, weights);
    const bool helps = fitted && is_smaller(*fitted, best);
    if (helps) best = fitted;
    (helps ? enough : too_small) = weights;
    return helps;
  };
  while (enough / 2 >= all / kSmallestShare && enough / 2 > 0 && attempt(enough / 2)) continue;
  for (int i = 0; best && i < kBisections && enough - too_small > 1 && too_small > 0; ++i)
    attempt(too_small + (enough - too_small) / 2);
  for (int i = 0; best && i < kSmallSteps; ++i) {
    const FittedModel* less = streamed_within(index, best->way.bytes - best->way.bytes / 256 - 1);
    if (!less) break;
    best = less;
  }
  return best;
}

const FittedModel* BudgetFitter::quickest(uint64_t bytes) {
  const FittedModel* best = found_within(bytes);
  if (!best && smallest().way.bytes <= bytes) return &smallest();
  if (best && smallest_ && smallest_->way.bytes <= bytes && is_better(*smallest_, best)) return smallest_;
  return best;
}

// A larger budget considers all configurations of a smaller one, and skips only those that cannot be better
// than `best`. Therefore the predicted time never increases with the budget.
const FittedModel* BudgetFitter::found_within(uint64_t bytes) {
  if (as_asked().way.bytes <= bytes) return &as_asked();
  const FittedModel* best = nullptr;
  const auto consider = [&](const FittedModel* fitted) {
    if (fitted && fitted->way.bytes <= bytes && is_better(*fitted, best)) best = fitted;
  };
  const auto may_improve = [&](double least_ms) { return !best || least_ms < best->way.milliseconds; };
  for (size_t i = 0; i < whole_; ++i) consider(&resident(i));
  for (size_t i = 0; i < whole_; ++i)
    if (may_stream(combinations_[i].options) && may_improve(resident(i).way.milliseconds))
      consider(quickest_streamed(i, bytes));
  const bool tiles_may_improve = std::ranges::any_of(std::views::iota(size_t{0}, whole_), [&](size_t i) {
    return may_improve(resident(i).way.milliseconds);
  });
  if (!tiles_may_improve) return best;
  add_tiles();
  for (const std::vector<size_t>& group : tiled_) {
    // Bytes decrease from one tiling to the next with few exceptions, so that a bisection finds the first
    // tiling that fits.
    const auto fits = [&](size_t i) {
      const Way& way = resident(i).way;
      return way.bytes <= bytes ||
             (may_stream(way.options) && way.activation_bytes + way.weights_bytes / kSmallestShare <= bytes);
    };
    const auto first = std::ranges::partition_point(group, [&](size_t i) { return !fits(i); });
    for (auto at = first; at != group.end() && may_improve(combinations_[*at].least_ms); ++at) {
      if (resident(*at).way.bytes <= bytes)
        consider(&resident(*at));
      else if (may_stream(combinations_[*at].options))
        consider(quickest_streamed(*at, bytes));
    }
  }
  return best;
}

// Considers streamed weights in all combinations without tiles, and in the smallest combination with tiles of
// each group.
const FittedModel* BudgetFitter::streamed_below(uint64_t bytes) {
  const FittedModel* best = nullptr;
  const auto consider = [&](size_t index) {
    if (!may_stream(combinations_[index].options)) return;
    const FittedModel* fitted = streamed_within(index, bytes);
    if (fitted && is_smaller(*fitted, best)) best = fitted;
  };
  for (size_t i = 0; i < whole_; ++i) consider(i);
  for (const std::vector<size_t>& group : tiled_)
    if (!group.empty()) consider(group.back());
  return best;
}

const FittedModel& BudgetFitter::smallest() {
  const auto consider = [&](const FittedModel* fitted) {
    if (fitted && is_smaller(*fitted, smallest_)) smallest_ = fitted;
  };
  if (smallest_) return *smallest_;
  for (size_t i = 0; i < whole_; ++i) {
    consider(&resident(i));
    if (may_stream(combinations_[i].options)) consider(smallest_streamed(i));
  }
  add_tiles();
  for (const std::vector<size_t>& group : tiled_) {
    for (const size_t i : group) consider(&resident(i));
    if (!group.empty() && may_stream(combinations_[group.back()].options))
      consider(smallest_streamed(group.back()));
  }
  uint64_t step = std::max<uint64_t>(1, smallest_->way.bytes / 256);
  for (int i = 0; i < kLastSteps && step > 0 && step < smallest_->way.bytes; ++i) {
    const FittedModel* less = streamed_below(smallest_->way.bytes - step);
    if (less)
      smallest_ = less;
    else
      step /= 4;
  }
  return *smallest_;
}

FittedModel fit_budget(const Target& target, const Model& model, const SessionOptions& options,
                       const Progress* progress) {
  check_memory_budget(options);
  BudgetFitter fitter(target, model, options, progress);
  if (const FittedModel* fitted = fitter.quickest(options.memory_budget)) return *fitted;
  const Way& least = fitter.smallest().way;
  const Way& asked = fitter.as_asked().way;
  throw Error(ErrorCode::out_of_memory, "a memory budget of " + std::to_string(options.memory_budget) +
                                            " bytes is too small: the smallest that suffices is " +
                                            std::to_string(least.bytes) + " bytes" + cost_of(least, asked) +
                                            "; without a budget it needs " + std::to_string(asked.bytes) +
                                            " bytes");
}

void check_memory_budget(const SessionOptions& options) {
  if (options.memory_budget == 0) return;
  if (options.weights_budget > 0)
    throw Error(ErrorCode::invalid_argument,
                "memory_budget and weights_budget exclude each other: a memory budget decides itself how "
                "many bytes of weights are on the device");
  if (options.memory_pool.valid())
    throw Error(ErrorCode::invalid_argument,
                "memory_budget and memory_pool exclude each other: a pool grows with what other sessions "
                "need, so it can be part of no session's budget");
}

}  // namespace vellum
