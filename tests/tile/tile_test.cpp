// Strips of layers, on the host reference: bit for bit what the whole layers compute.
#include "passes/tile/tile.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "compile/tiles.hpp"
#include "passes/pass_harness.hpp"
#include "passes/tile/rows_share.hpp"
#include "plan/buffer_copies.hpp"
#include "tile/local_networks.hpp"
#include "tile/random_local_graph.hpp"
#include "tile/random_tiling.hpp"

namespace vellum::test {
namespace {

// Halos and strides that do not divide the height.
OnnxModel chain() {
  OnnxModel model;
  model.input("x", {1, 3, 22, 9})
      .initializer("w0", random_tensor({8, 3, 3, 3}, 1))
      .initializer("w1", random_tensor({8, 1, 5, 5}, 2))
      .initializer("w2", random_tensor({8, 8, 1, 1}, 3));
  model.node("Conv", {"x", "w0"}, {"a"}, attributes({{"pads", Attributes::Ints{1, 1, 1, 1}}}), "first")
      .node("Conv", {"a", "w1"}, {"b"},
            attributes({{"pads", Attributes::Ints{2, 2, 2, 2}}, {"group", int64_t{8}}}), "depthwise")
      .node("Conv", {"b", "w2"}, {"c"}, {}, "product")
      .node("Add", {"a", "c"}, {"d"}, {}, "residual")
      .node("MaxPool", {"d"}, {"y"},
            attributes({{"kernel_shape", Attributes::Ints{2, 2}}, {"strides", Attributes::Ints{2, 2}}}),
            "pool")
      .output("y");
  return model;
}

Graph inferred(const OnnxModel& model) {
  Graph graph = model.graph();
  infer_shapes_and_fold(graph, {});
  return graph;
}

TEST(Tile, ComputesHalosAgain) {
  const Graph graph = inferred(chain());
  const RowReads reads(graph);
  const TiledNodes tiled{0, 5, 3};
  const std::vector<ValueId> outputs = outputs_of(reads, 0, 5);
  ASSERT_EQ(outputs.size(), 1u);
  // Rows 3 to 7 of 11: rows 6 to 14 of the residual, and two more on both sides of the first convolution.
  EXPECT_EQ(strip_of_output(reads, tiled, outputs, outputs[0], 1), (Rows{3, 7}));
  const std::vector<StripRows> rows = rows_of_strips(reads, tiled, outputs)[1];
  const std::vector<Rows> wanted{{4, 16}, {6, 14}, {6, 14}, {6, 14}, {3, 7}};
  ASSERT_EQ(rows.size(), wanted.size());
  for (size_t n = 0; n < rows.size(); ++n) EXPECT_EQ(rows[n], (StripRows{wanted[n], wanted[n]})) << n;
}

// The first strip has had rows 0 to 8 of the first convolution, of which this one needs 4 to 8 again.
TEST(Tile, KeepsRowsForTheNextStrip) {
  const Graph graph = inferred(chain());
  const RowReads reads(graph);
  const TiledNodes tiled{0, 5, 3, {0}};
  const std::vector<ValueId> outputs = outputs_of(reads, 0, 5);
  const auto strips = rows_of_strips(reads, tiled, outputs);
  EXPECT_EQ(strips[0][0], (StripRows{{0, 8}, {0, 8}}));
  EXPECT_EQ(strips[1][0], (StripRows{{4, 16}, {8, 16}}));
  EXPECT_EQ(strips[1][0].kept(), (Rows{4, 8}));
  int64_t computed = 0;
  for (const auto& strip : strips) computed += strip[0].computed.count();
  EXPECT_EQ(computed, 22) << "no row is computed twice";
}

TEST(Tile, SharesTheConstantsOfTheWhole) {
  const Graph graph = inferred(chain());
  const TiledGraph tiled = tile(AxisReads(graph), {{0, 5, 2}});
  size_t copies = 0;
  for (size_t n = 0; n < tiled.graph.nodes.size(); ++n) {
    const size_t whole = tiled.whole_nodes[n];
    if (whole == RowReads::kNone || tiled.graph.nodes[n].op->type() != "Conv") continue;
    const HostTensor* weights = tiled.graph.constant(tiled.graph.nodes[n].inputs[1]);
    EXPECT_EQ(weights->data(), graph.constant(graph.nodes[whole].inputs[1])->data());
    ++copies;
  }
  EXPECT_EQ(copies, 6u);
}

// The first convolution stays whole; strips of the next one read 11 + 2 of its 22 rows in place.
TEST(Tile, StripsReadAShareOfTensorsThatAreWhole) {
  const Graph graph = inferred(chain());
  const TiledGraph tiled = tile(AxisReads(graph), {{1, 5, 2}});
  size_t strips = 0;
  for (size_t n = 0; n < tiled.graph.nodes.size(); ++n) {
    const double share = share_of_rows_read(tiled.graph, tiled.graph.nodes[n]);
    const bool is_strip = tiled.whole_nodes[n] == 1;
    EXPECT_EQ(share, is_strip ? strips == 0 ? 12.0 / 22 : 14.0 / 22 : 1.0) << describe(tiled.graph.nodes[n]);
    strips += is_strip;
  }
  EXPECT_EQ(strips, 2u);
}

TEST(Tile, LeavesWhatNeedsAllRowsWhole) {
  OnnxModel model;
  model.input("x", {1, 4, 8, 8}).node("Relu", {"x"}, {"r"}).node("GlobalAveragePool", {"r"}, {"m"});
  model.node("Mul", {"r", "m"}, {"y"}).output("y");
  const Graph graph = inferred(model);
  const RowReads reads(graph);
  EXPECT_TRUE(reads.has_rows(0));
  EXPECT_FALSE(reads.has_rows(1));
  EXPECT_TRUE(reads.has_rows(2));
  EXPECT_FALSE(can_tile(reads, 0, 3));
}

// Everything but the statistics of the batch computes each image by itself.
TEST(Tile, KnowsWhichLayersComputeImagesByThemselves) {
  const Graph graph = inferred(classifier_of_batch({3, 4, 8, 8}));
  const RowReads reads(graph, {}, {}, ImageAxis::images);
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    EXPECT_EQ(reads.has_rows(n), graph.nodes[n].name != "over_batch") << describe(graph.nodes[n]);
  EXPECT_EQ(reads.read(0, 0, {1, 2}).rows, (Rows{1, 2}));
  EXPECT_TRUE(reads.read(0, 1, {1, 2}).whole) << "weights";
  const Graph of_one = inferred(classifier_of_batch({1, 4, 8, 8}));
  EXPECT_FALSE(RowReads(of_one, {}, {}, ImageAxis::images).has_rows(0));
}

TEST(Tile, PartsOfABatchGiveTheSameBits) {
  const Graph graph = inferred(classifier_of_batch({5, 4, 8, 8}));
  const std::vector<HostTensor> inputs = random_inputs(graph, 1);
  size_t end = 0;
  const AxisReads reads(graph);
  while (can_tile(reads.images, 0, end + 1)) ++end;
  EXPECT_EQ(graph.nodes[end].name, "over_batch");
  for (int64_t parts = 2; parts <= 5; ++parts) {
    const TiledGraph tiled = tile(reads, {{0, end, parts, {}, ImageAxis::images}});
    const std::vector<HostTensor> wanted = evaluate(graph, inputs), found = evaluate(tiled.graph, inputs);
    for (size_t i = 0; i < wanted.size(); ++i)
      EXPECT_TRUE(same_bits(found[i], wanted[i])) << parts << " " << i;
  }
}

size_t copies_in(const Program& program) {
  return static_cast<size_t>(std::ranges::count_if(program.tasks, [](const Task& task) {
    return task.dispatch && task.dispatch->shader == "copy_region";
  }));
}

// Rows are neighbours in memory: the residual is read out of the strip where it is. Only kept rows are
// copied, out of a strip and into the next one.
TEST(Tile, CutsAndJoinsRowsInBuffersWithoutCopies) {
  const Graph graph = inferred(chain());
  DeviceCaps caps;
  caps.min_storage_buffer_offset_alignment = caps.min_texel_buffer_offset_alignment = 16;
  const TiledLowering buffers(graph, caps, {.storage = StorageChoice::buffer});
  EXPECT_EQ(copies_in(buffers.lower({{0, 5, 3}}).program), 0u);
  EXPECT_EQ(copies_in(buffers.lower({{0, 5, 3, {0}}}).program), 4u);
  EXPECT_TRUE(buffers.costs().rows_are_views);
  const TiledLowering images(graph, caps, {.storage = StorageChoice::image2d});
  EXPECT_GT(copies_in(images.lower({{0, 5, 3}}).program), 0u);
  EXPECT_FALSE(images.costs().rows_are_views);
}

// Four copies of kept rows, all within buffers; the CPU's drivers have them as commands, GPUs as dispatches.
TEST(Tile, CopiesKeptRowsByCommandsOnTheCpu) {
  const Graph graph = inferred(chain());
  const auto commands = [&](DeviceType type, StorageChoice storage) {
    DeviceCaps caps;
    caps.type = type;
    caps.min_storage_buffer_offset_alignment = caps.min_texel_buffer_offset_alignment = 16;
    const Program program = TiledLowering(graph, caps, {.storage = storage}).lower({{0, 5, 3, {0}}}).program;
    return std::ranges::count_if(program.tasks, [&](const Task& task) {
      return task.dispatch && is_copied_by_command(program, *task.dispatch, caps);
    });
  };
  EXPECT_EQ(commands(DeviceType::cpu, StorageChoice::buffer), 4);
  EXPECT_EQ(commands(DeviceType::discrete_gpu, StorageChoice::buffer), 0);
  EXPECT_EQ(commands(DeviceType::cpu, StorageChoice::image2d), 0);
}

TEST(Tile, RandomNetworksGiveTheSameBits) {
  size_t tiled_networks = 0;
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Graph graph = inferred(random_local_graph(seed));
    const AxisReads reads(graph);
    const Tiling tiling = random_tiling(reads, seed);
    if (tiling.empty()) continue;
    ++tiled_networks;
    const TiledGraph tiled = tile(reads, tiling);
    ASSERT_EQ(tiled.whole_nodes.size(), tiled.graph.nodes.size());
    const std::vector<HostTensor> inputs = random_inputs(graph, seed);
    const std::vector<HostTensor> wanted = evaluate(graph, inputs), found = evaluate(tiled.graph, inputs);
    for (size_t i = 0; i < wanted.size(); ++i) ASSERT_TRUE(same_bits(found[i], wanted[i])) << "output " << i;
  }
  EXPECT_GT(tiled_networks, 250u);
}

}  // namespace
}  // namespace vellum::test
