// Chooses which layers of a graph run in strips (passes/tile), and in how many: predicted time against bytes
// of intermediate tensors.
//
// The whole graph's nodes are divided into runs of consecutive nodes that are tiled and single nodes that are
// not. Bytes are those of values in channels4 that are live at the same time, without workspace, and without
// in-place aliases of strips: the plan of what is chosen decides. Times are those of the whole's dispatches
// by plan/dispatch_model.hpp, in proportion to the rows, with the launches and the copies that strips add.
//
// Rows that two strips need are computed twice, or kept from one strip to the next. To keep them is to copy
// them twice, and in images the whole strip, so it pays once several layers would compute them twice: walking
// from the outputs back, a node keeps its rows when what was computed twice since the last one that does
// would take longer than its copies.
//
// Layers that compute each image of a batch by itself run in parts of the batch likewise, without a halo.
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
  std::vector<double> node_ms;  // of each node, whole
  CopyTime copy;                // its launch is that of every dispatch
  CopyTime keep;                // of rows that are neighbours in memory, kept for the next strip
  uint64_t element_bytes = 4;
  // Rows of an image are neighbours in memory (TensorDesc::rows_first), and so are images: joining strips and
  // cutting rows out copies nothing but the rows that are kept.
  bool rows_are_views = false;
  // Per node: whether its first output may take the memory of an input of the same shape that dies there.
  // Empty: none.
  std::vector<bool> in_place = {};
};

class TileChooser {
 public:
  // How two strips come to the rows that both need. `computed`: both strips compute them. `kept`: the first
  // strip keeps them where that is quicker. `mostly_kept`: also where it takes up to four times as long, so
  // that shorter strips need less memory.
  enum class Halo : uint8_t { computed, kept, mostly_kept };
  struct Choice {
    Tiling tiling;
    double added_ms = 0;
  };

  // `reads` must outlive this.
  TileChooser(const AxisReads& reads, TileCosts costs);

  // The most bytes that are live at a time without tiles.
  uint64_t whole_peak() const;
  // The tiling of least added time with which at most `bytes` should be live at a time; nothing if there is
  // none. `halo`: the most that is kept.
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
  // Bytes of `rows` rows of a value; of `rows` images where `axis` is that of images.
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
  // To keep rows of a node for the next strip, which then holds `held` rows of it.
  double keep_ms(size_t node, int64_t kept, int64_t held) const;
  // The nodes that keep rows, by a strip in the middle.
  std::vector<size_t> nodes_to_keep(const TiledNodes& tiled, const std::vector<ValueId>& outputs,
                                    Halo halo) const;
  const Run& run(const TiledNodes& tiled, Halo halo, const std::vector<ValueId>& outputs);
  void extend_by_runs(size_t first, uint64_t bytes, Halo most, ImageAxis axis, std::vector<Step>& steps);
  // In the fewest strips that suffice.
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
