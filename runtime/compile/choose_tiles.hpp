// Chooses which layers of a graph run in strips (passes/tile), and in how many: a trade-off of predicted time
// against bytes of intermediate tensors.
//
//   layer 1   |  strip 1  |  strip 2  |  strip 3  |     layers 1 and 2 are a run: strip 1 of both is computed
//   layer 2   |  strip 1  |  strip 2  |  strip 3  |     before strip 2 of both
//   layer 3   |               whole               |     not tiled
//
// The nodes of the graph are divided into runs of consecutive nodes that are tiled, and single nodes that are
// not. Bytes are an estimate: the values in channels4 that are live at the same time, without workspace and
// without in-place aliases of strips. The memory plan of the chosen tiling decides. Times are those of the
// whole layers' dispatches (plan/dispatch_model.hpp) in proportion to the rows, plus the launches and copies
// that strips add.
//
// Rows that two strips need (the halo) are computed twice, or kept from one strip to the next. Keeping rows
// costs two copies of them, and in images two copies of the strip, so it pays only if several layers would
// compute rows twice. The nodes are visited from the outputs back. A node keeps its rows as soon as the rows
// that would be computed twice since the last node that keeps rows take longer than its copies.
//
// Layers that compute each image of a batch by itself can also run in parts of the batch, without a halo.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "caps/device_caps.hpp"
#include "passes/tile/strips.hpp"
#include "plan/dispatch_model.hpp"

namespace vellum {

struct TileCosts {
  std::vector<double> node_ms;  // milliseconds of each node as a whole layer
  CopyTime copy;                // of a dispatch that copies rows; its launch is the launch of every dispatch
  CopyTime keep;                // of contiguous rows that are kept for the next strip
  uint64_t element_bytes = 4;
  // The rows of an image are contiguous in memory (TensorDesc::rows_first), and so are images. Then joining
  // strips and cutting rows out are views, and only rows that are kept are copied.
  bool rows_are_views = false;
  // Per node: whether its first output may take the memory of an input of the same shape that dies there.
  // Empty: none.
  std::vector<bool> in_place = {};
};

class TileChooser {
 public:
  // How two strips get the rows that both need.
  //   computed     both strips compute them.
  //   kept         the first strip keeps them if that is quicker.
  //   mostly_kept  the first strip keeps them even if that takes up to four times as long, so that shorter
  //                strips need less memory.
  enum class Halo : uint8_t { computed, kept, mostly_kept };
  struct Choice {
    Tiling tiling;
    double added_ms = 0;
  };

  // `reads` must outlive this object.
  TileChooser(const AxisReads& reads, TileCosts costs);
  // Returns the largest number of bytes that are live at a time without strips.
  uint64_t whole_peak() const;
  // Returns the tiling with the least added time among those estimated to have at most `bytes` live at a
  // time. Returns nothing if there is none. `halo`: the most that strips may keep.
  std::optional<Choice> quickest(uint64_t bytes, Halo halo);

 private:
  struct Run {
    uint64_t peak = UINT64_MAX;
    double added_ms = 0;
    std::vector<size_t> kept = {};
  };
  struct Step {
    bool reached = false;
    double added_ms = 0;
    TiledNodes from = {};
  };

  const Graph& graph() const { return reads_.graph(); }
  // Returns the bytes of `rows` rows of a value, or of `rows` images if `axis` is the axis of images.
  uint64_t bytes_of(ValueId value, int64_t rows, ImageAxis axis) const;
  uint64_t whole_bytes(ValueId value) const;
  size_t last_use(ValueId value) const;
  uint64_t bytes_in_place(size_t node) const;
  Run estimate(const TiledNodes& tiled, const std::vector<ValueId>& outputs) const;
  struct Strip {
    uint64_t peak = 0;
    double ms = 0;
  };
  Strip estimate_strip(const TiledNodes& tiled, const std::vector<ValueId>& outputs, int64_t strip) const;
  bool is_view(ValueId value, ImageAxis axis) const;
  // Returns the time to keep `kept` rows of a node for the next strip, which then holds `held` rows.
  double keep_ms(size_t node, int64_t kept, int64_t held) const;
  // Returns the nodes that should keep rows, estimated from a strip in the middle.
  std::vector<size_t> nodes_to_keep(const TiledNodes& tiled, const std::vector<ValueId>& outputs,
                                    Halo halo) const;
  const Run& run(const TiledNodes& tiled, Halo halo, const std::vector<ValueId>& outputs);
  void extend_by_runs(size_t first, uint64_t bytes, Halo most, ImageAxis axis, std::vector<Step>& steps);
  // Extends `steps` by the run `tiled`, in the fewest strips that stay within `bytes`.
  void extend_by_run(TiledNodes tiled, uint64_t bytes, Halo halo, const std::vector<ValueId>& outputs,
                     int64_t most_strips, std::vector<Step>& steps);

  const AxisReads& reads_;
  const TileCosts costs_;
  std::vector<std::vector<size_t>> readers_;        // per value: the nodes that read it, ascending
  std::vector<bool> is_output_;                     // per value: of the graph
  std::vector<uint64_t> live_before_, node_peaks_;  // per node, whole
  std::map<std::tuple<size_t, size_t, int64_t, Halo, ImageAxis>, Run> runs_;
};

}  // namespace vellum
