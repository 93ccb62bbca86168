// Lowers graphs whose layers run in strips (passes/tile) with the kernels of the whole layers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "compile/choose_tiles.hpp"
#include "kernels/framework/lowering.hpp"
#include "passes/tile/tile.hpp"

namespace vellum {

// Lowers a graph without strips once, and then in strips as often as needed.
class TiledLowering {
 public:
  // Lowers the whole graph with `options`. `graph` and `caps` must outlive this object.
  TiledLowering(const Graph& graph, const DeviceCaps& caps, const LoweringOptions& options);
  TiledLowering(const TiledLowering&) = delete;
  TiledLowering& operator=(const TiledLowering&) = delete;

  const AxisReads& reads() const { return *reads_; }
  TileCosts costs() const;

  struct Result {
    Graph graph;
    Program program;  // strips are joined as early as possible; tasks are not arranged yet
  };
  // Lowers the graph in strips. Throws Error(unsupported) if a node would read or write other element types
  // than in the whole graph, or sum in another order.
  Result lower(const Tiling& tiling) const;

 private:
  const Graph& graph_;
  const DeviceCaps& caps_;
  LoweringOptions options_;
  WholeLayers whole_;
  Program program_;
  std::optional<AxisReads> reads_;
  std::vector<bool> in_place_;  // per node: whether it may write over an input
};

// Returns for each task the share, from 0 to 1, of the bytes of the shader's tensor x that it reads: a strip
// may read some rows of a whole tensor. `graph` and `program`: in strips.
std::vector<double> shares_of_x(const Graph& graph, const Program& program);

}  // namespace vellum
