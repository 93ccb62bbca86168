// Tiles: the part of the output of a convolution or matrix product that one invocation computes
// (conv_tile.glsl).
//
// Predicted costs of their candidates are relative: 1 is the direct kernel with preferred_tile().
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "cost/tiles.hpp"
#include "kernels/framework/lowering.hpp"
#include "program/divide.hpp"

namespace vellum {

struct PricedTile {
  OutputTile tile;
  double cost = 1;
  double us = 0;  // predicted microseconds if the tile is about as quick as the best; 0: slower, or unknown
};

// Returns the preferred tile first, then others that might be faster. None is wider than the output.
std::vector<PricedTile> output_tiles(const DeviceCaps& caps, const TileDemand& demand);

// Each invocation computes its sums alone.
struct OwnSums {
  bool operator==(const OwnSums&) const = default;
};
// The invocations of a subgroup compute the same slices. Each loads some of the weights and broadcasts them
// to the others (subgroup_broadcast.hpp).
struct SubgroupBroadcast {
  bool operator==(const SubgroupBroadcast&) const = default;
};
// `count` invocations share each sum over the input channels (split_k.hpp).
struct SplitK {
  int64_t count = 2;
  bool operator==(const SplitK&) const = default;
};

// The output of an invocation, and how it shares its work with others.
struct InvocationTile {
  OutputTile output;
  std::variant<OwnSums, SubgroupBroadcast, SplitK> sharing = {};

  bool broadcasts() const { return std::holds_alternative<SubgroupBroadcast>(sharing); }
  // Returns the number of invocations that share each sum; 1 without split-K.
  int64_t split_k() const;
};

// Returns the name of an algorithm with this tile: "8x2", "8x2 subgroup broadcast", "8x2 split-K 4".
KernelName tile_name(std::string algorithm, const InvocationTile& tile);

// Adds the macros of the tile: TILE_P (pixels), TILE_S (slices), and BROADCAST or PARTS (the split-K factor).
void define_tile(Dispatch& dispatch, const InvocationTile& tile);

}  // namespace vellum
