#include "kernels/fused/fused_kernels.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "cost/device_traits.hpp"
#include "kernels/fused/predicted_time.hpp"

namespace vellum {

#define VELLUM_FUSED_KERNEL(id, type, rank, falls_back, match, lower) \
  std::optional<FusedMatch> match(const GraphEditor&, size_t, const FusionContext&);
#include "graph/operators/fused/fused_kernels.def"
#undef VELLUM_FUSED_KERNEL

namespace {

constexpr FusedKernel kFusedKernels[] = {
#define VELLUM_FUSED_KERNEL(id, type, rank, falls_back, match, lower) \
  {FusedKernelId::id, rank, falls_back, match},
#include "graph/operators/fused/fused_kernels.def"
#undef VELLUM_FUSED_KERNEL
};

// Returns the kernels that may be used: all kernels that are not wrong, and wrong kernels that lowering can
// avoid.
std::vector<FusedKernel> usable_kernels(const WrongKernels* wrong) {
  std::vector<FusedKernel> usable;
  for (const FusedKernel& kernel : kFusedKernels) {
    const auto is_wrong = [&](const auto& entry) { return entry.second.fused == kernel.id; };
    if (kernel.falls_back || !wrong || std::ranges::none_of(*wrong, is_wrong)) usable.push_back(kernel);
  }
  return usable;
}

// Returns the predicted time of the nodes of both matches, if `taken` is fused and all other nodes are
// unfused.
double total_us(const FusedMatch& taken, const FusedMatch& other) {
  double us = taken.us;
  for (const NodeTime& node : other.layers)
    if (std::ranges::find(taken.layers, node.index, &NodeTime::index) == taken.layers.end()) us += node.us;
  return us;
}

// Returns whether the nodes would take clearly less time with another match that ends at an earlier node of
// `match`.
bool is_better_otherwise(const GraphEditor& editor, const FusedMatch& match,
                         const std::vector<FusedKernel>& kernels, const FusionContext& context) {
  if (!device_traits(context.caps).compares_fusions) return false;
  for (const NodeTime& node : match.layers)
    for (const FusedKernel& kernel : kernels) {
      if (node.index == match.index) continue;
      const std::optional<FusedMatch> other = kernel.match(editor, node.index, context);
      if (other && !other->layers.empty() &&
          total_us(*other, match) < kMaxFusedTimeShare * total_us(match, *other))
        return true;
    }
  return false;
}

void apply(GraphEditor& editor, FusedMatch match) {
  for (const size_t index : match.removed) editor.remove(index);
  editor.replace(match.index, std::move(match.node));
}

}  // namespace

void fuse(Graph& graph, const DeviceCaps& caps, Precision precision, const WrongKernels* wrong) {
  const FusionContext context{caps, precision};
  const std::vector<FusedKernel> kernels = usable_kernels(wrong);
  std::set<int> ranks;
  for (const FusedKernel& kernel : kernels) ranks.insert(kernel.rank);
  GraphEditor editor(graph);
  for (const int rank : ranks)
    for (const size_t index : editor.nodes())
      for (const FusedKernel& kernel : kernels) {
        if (kernel.rank != rank || editor.removed(index)) continue;
        std::optional<FusedMatch> match = kernel.match(editor, index, context);
        if (match && !is_better_otherwise(editor, *match, kernels, context)) apply(editor, std::move(*match));
      }
  editor.commit();
}

}  // namespace vellum
