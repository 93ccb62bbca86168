// Which tiles are chosen for what time they should take.
#include "compile/choose_tiles.hpp"

#include <gtest/gtest.h>

#include "passes/passes.hpp"
#include "tile/local_networks.hpp"

namespace vellum::test {
namespace {

using Halo = TileChooser::Halo;

class ChooseTiles : public testing::Test {
 protected:
  // For a quarter of the bytes.
  std::optional<TileChooser::Choice> quickest(const TileCosts& costs, Halo halo) {
    TileChooser chooser(reads, costs);
    return chooser.quickest(chooser.whole_peak() / 4, halo);
  }
  TileCosts costs(double launch_ms, double ms_per_byte) const {
    const CopyTime copy{launch_ms, ms_per_byte};
    return {std::vector<double>(graph.nodes.size(), 10), copy, copy, 4};
  }
  static bool keeps_rows(const Tiling& tiling) {
    for (const TiledNodes& tiled : tiling)
      if (!tiled.kept.empty()) return true;
    return false;
  }

  const Graph graph = optimise(super_resolution({1, 3, 128, 64}, 8).graph(), {}, {}, {});
  const AxisReads reads{graph};
};

TEST_F(ChooseTiles, KeepsRowsWhereCopiesTakeLessThanTheHalo) {
  const auto kept = quickest(costs(0, 1e-9), Halo::kept), computed = quickest(costs(0, 1e-9), Halo::computed);
  ASSERT_TRUE(kept && computed);
  EXPECT_TRUE(keeps_rows(kept->tiling));
  EXPECT_FALSE(keeps_rows(computed->tiling));
  EXPECT_LT(kept->added_ms, computed->added_ms / 2);
}

TEST_F(ChooseTiles, ComputesTheHaloAgainWhereCopiesTakeLonger) {
  for (const TileCosts& dear : {costs(0, 1), costs(1e3, 1e-9)}) {
    const auto choice = quickest(dear, Halo::kept);
    ASSERT_TRUE(choice);
    EXPECT_FALSE(choice->tiling.empty());
    EXPECT_FALSE(keeps_rows(choice->tiling));
  }
}

TEST_F(ChooseTiles, KeepsRowsInLessTimeWhereStripsAreViews) {
  TileCosts views = costs(0, 1e-5);
  views.rows_are_views = true;
  const auto copied = quickest(costs(0, 1e-5), Halo::kept), viewed = quickest(views, Halo::kept);
  ASSERT_TRUE(copied && viewed);
  EXPECT_LT(viewed->added_ms, copied->added_ms);
  EXPECT_TRUE(keeps_rows(viewed->tiling));
}

// Parts of a batch have no halo.
TEST_F(ChooseTiles, DividesABatchBeforeItsImages) {
  const Graph batch = optimise(super_resolution({8, 3, 64, 32}, 8).graph(), {}, {}, {});
  const AxisReads of_batch{batch};
  TileChooser chooser(of_batch, {std::vector<double>(batch.nodes.size(), 10), 1e-3, 1e-9, 4, true});
  const auto choice = chooser.quickest(chooser.whole_peak() / 4, Halo::mostly_kept);
  ASSERT_TRUE(choice);
  ASSERT_EQ(choice->tiling.size(), 1u);
  EXPECT_EQ(choice->tiling[0].axis, ImageAxis::images);
  EXPECT_TRUE(choice->tiling[0].kept.empty());
}

}  // namespace
}  // namespace vellum::test
