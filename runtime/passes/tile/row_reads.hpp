// A table of the rows that each node of a graph reads, for repeated queries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "passes/tile/operator_rows.hpp"

namespace vellum {

class RowReads {
 public:
  static constexpr size_t kNone = SIZE_MAX;

  // `graph` must outlive this object. `computed_together`: per node, the granularity of rows of its kernel;
  // empty: 1 for all. `fixed`: per node, whether it must be computed whole regardless of its operator; empty:
  // none. `axis`: the axis that "rows" means.
  explicit RowReads(const Graph& graph, std::span<const int64_t> computed_together = {},
                    const std::vector<bool>& fixed = {}, ImageAxis axis = ImageAxis::rows);

  const Graph& graph() const { return graph_; }
  ImageAxis axis() const { return axis_; }
  bool has_rows(size_t node) const { return nodes_[node].has_rows; }
  // The number of rows of the node's outputs.
  int64_t row_count(size_t node) const { return nodes_[node].row_count; }
  // Returns the rows that are computed if these are wanted: rounded outwards to multiples of
  // computed_together.
  Rows computed(size_t node, const Rows& wanted) const;
  // Returns the rows of input `slot` that a node with rows reads.
  RowsRead read(size_t node, size_t slot, const Rows& computed) const;

  size_t rows_axis(ValueId value) const { return axes_[value]; }
  int64_t value_rows(ValueId value) const { return graph_.values[value].type.shape[axes_[value]]; }
  // Returns the node that computes the value, or kNone.
  size_t producer(ValueId value) const { return producers_[value]; }
  // Returns the last node that reads the value; the number of nodes for a graph output; kNone if nothing
  // reads it.
  size_t last_reader(ValueId value) const { return last_readers_[value]; }

 private:
  struct Input {
    bool whole = true, may_be_more = false, monotone = true;
    std::vector<Rows> of_row;  // per row of the output; empty for images, where image i reads image i
  };
  struct NodeRows {
    bool has_rows = false;
    int64_t row_count = 0, together = 1;
    std::vector<Input> inputs;
  };

  NodeRows find_rows(size_t node_index, int64_t together) const;

  const Graph& graph_;
  const ImageAxis axis_;
  std::vector<size_t> axes_, producers_, last_readers_;  // per value
  std::vector<NodeRows> nodes_;
};

// RowReads along rows and along the images of a batch.
struct AxisReads {
  // See the constructor of RowReads.
  explicit AxisReads(const Graph& graph, std::span<const int64_t> computed_together = {},
                     const std::vector<bool>& fixed = {});

  const Graph& graph() const { return rows.graph(); }
  const RowReads& along(ImageAxis axis) const { return axis == ImageAxis::images ? images : rows; }

  RowReads rows, images;
};

}  // namespace vellum
