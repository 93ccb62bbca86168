// Random networks on images in both dimension orders keep their results when transpositions move.
#include <gtest/gtest.h>

#include <string>

#include "passes/pass_harness.hpp"
#include "random_image_model.hpp"

namespace vellum::test {
namespace {

void remove_redundant_nodes(Graph& graph) {
  merge_reshapes(graph);
  remove_identities(graph);
  remove_dead_code(graph);
}

size_t count_transposes(const Graph& graph) {
  size_t count = 0;
  for (const Node& node : graph.nodes) count += node.op->type() == "Transpose";
  return count;
}

struct TransposeCounts {
  size_t before = 0, after = 0;
};

// after() of the harness compares the results with those of the unchanged model.
TransposeCounts move_transposes_of(const OnnxModel& model, uint32_t seed) {
  TransposeCounts counts;
  const auto move = [&](Graph& graph) {
    remove_redundant_nodes(graph);
    counts.before = count_transposes(graph);
    move_transposes(graph);
    remove_redundant_nodes(graph);
  };
  counts.after = count_transposes(after(move, model, seed));
  return counts;
}

TEST(MoveTransposes, RandomNetworksKeepTheirResultsAndGetNoMoreTransposes) {
  size_t fewer = 0;
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const TransposeCounts counts = move_transposes_of(RandomImageModel(seed).model(), seed);
    EXPECT_LE(counts.after, counts.before);
    fewer += counts.after < counts.before;
  }
  EXPECT_GT(fewer, 10u) << "networks in which a transposition cancels";
}

}  // namespace
}  // namespace vellum::test
