// Programs whose layers run in strips (passes/tile), by the kernels of the whole layers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "compile/choose_tiles.hpp"
#include "kernels/framework/lowering.hpp"
#include "passes/tile/tile.hpp"

namespace vellum {

// A graph that was lowered whole, to be lowered in strips.
class TiledLowering {
 public:
  // `graph` and `caps` must outlive this. `options`: of the whole graph.
  TiledLowering(const Graph& graph, const DeviceCaps& caps, const LoweringOptions& options);
  TiledLowering(const TiledLowering&) = delete;
  TiledLowering& operator=(const TiledLowering&) = delete;

  const AxisReads& reads() const { return *reads_; }
  TileCosts costs() const;

  struct Result {
    Graph graph;
    Program program;  // joins where they can be earliest; not arranged
  };
  // Throws Error(unsupported) if a node would read or write other element types than in the whole graph, or
  // sum in another order.
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

// Returns per task the share, from 0 to 1, of the bytes of the shader's tensor x that it reads: strips read
// some rows of a tensor in place. `graph`: in strips, as `program` is.
std::vector<double> shares_of_x(const Graph& graph, const Program& program);

}  // namespace vellum
