#include "plan/arrange.hpp"

#include <algorithm>
#include <compare>

#include "plan/fold_textures.hpp"
#include "plan/in_place.hpp"
#include "plan/joined_copies.hpp"
#include "plan/memory_plan.hpp"
#include "plan/order.hpp"
#include "plan/views.hpp"

namespace vellum {
namespace {

constexpr size_t kManyTasks = 500;  // from here on one strategy stands for all

class Arranger {
 public:
  Arranger(Program& program, const ArrangeOptions& options, const MemoryRules& rules)
      : program_(program), options_(options), rules_(rules) {}

  // Returns the number of views.
  size_t views(uint64_t alignment) {
    return replace_copies_by_views(program_, alignment, [this](const Program&) { return least_bytes(); });
  }

  void order() {
    const std::vector<size_t> order = order_with_low_peak(program_, rules_, options_.in_place).tasks;
    if (std::is_sorted(order.begin(), order.end())) return;
    const uint64_t before = least_bytes();
    apply_order(program_, order);
    if (least_bytes() < before) return;
    std::vector<size_t> back(order.size());
    for (size_t i = 0; i < order.size(); ++i) back[order[i]] = i;
    apply_order(program_, back);
  }

  // Parts are joined again where the memory does not grow.
  void join() {
    join_copies(program_,
                [this](Program& program) { return Arranger(program, options_, rules_).least_bytes(); });
  }

  // Conversions of matrices are removed where the memory does not grow.
  void access_rows() {
    access_row_texels(program_, options_.row_texels,
                      [this](Program& program) { return Arranger(program, options_, rules_).least_bytes(); });
  }

  // Folded images take a few instructions more for each access.
  void fold() {
    const std::vector<TensorId> folded = fold_textures(program_);
    if (folded.empty()) return;
    const uint64_t after = least_bytes();
    unfold_textures(program_, folded);
    if (20 * after <= 19 * least_bytes()) fold_textures(program_);
  }

  void in_place() {
    disable_in_place(program_);
    const uint64_t apart = bytes();
    alias_in_place(program_);
    if (bytes() > apart) disable_in_place(program_);
  }

  // Returns the bytes for the current order of tasks, in place if that takes fewer.
  uint64_t least_bytes() {
    disable_in_place(program_);
    uint64_t least = bytes();
    if (!options_.in_place) return least;
    alias_in_place(program_);
    least = std::min(least, bytes());
    disable_in_place(program_);
    return least;
  }

  // Returns the bytes of the smallest plan.
  uint64_t bytes() const {
    const bool offsets = options_.mode == MemoryMode::offsets;
    const bool quick = program_.tasks.size() > kManyTasks;
    const char* strategy = !quick ? "best" : offsets ? "greedy_by_size" : "greedy_by_size_improved";
    return plan_memory(program_, {.mode = options_.mode, .strategy = strategy}, rules_).planned_bytes;
  }

 private:
  Program& program_;
  const ArrangeOptions& options_;
  const MemoryRules& rules_;
};

// What an arrangement takes: less memory is better, then fewer tasks, then more views.
struct ArrangementCost {
  uint64_t bytes = 0;  // of the smallest plan
  size_t tasks = 0;
  int64_t without_views = 0;  // minus their number

  auto operator<=>(const ArrangementCost&) const = default;
};

// Arranges a program of joins as they are, or split where `splits`.
ArrangementCost arrange_joins(Program& program, const ArrangeOptions& options, uint64_t view_alignment,
                              const MemoryRules& rules, bool splits) {
  Arranger arranger(program, options, rules);
  if (splits) split_joins(program);
  const size_t views = options.views ? arranger.views(view_alignment) : 0;
  if (options.reorder) arranger.order();
  if (splits) arranger.join();
  forget_alternatives(program);
  arranger.access_rows();
  if (options.fold && options.mode == MemoryMode::shared_objects) arranger.fold();
  if (options.in_place) arranger.in_place();
  return {arranger.bytes(), program.tasks.size(), -static_cast<int64_t>(views)};
}

}  // namespace

void arrange(Program& program, const ArrangeOptions& options, uint64_t view_alignment,
             const MemoryRules& rules) {
  if (options.mode == MemoryMode::naive) return forget_alternatives(program);
  if (!has_joins(program)) {
    arrange_joins(program, options, view_alignment, rules, false);
    return;
  }
  // Joins take fewer dispatches; parts may take less memory, or none as views.
  Program apart = program;
  const ArrangementCost together = arrange_joins(program, options, view_alignment, rules, false);
  if (arrange_joins(apart, options, view_alignment, rules, true) < together) program = std::move(apart);
}

}  // namespace vellum
