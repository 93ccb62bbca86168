// The rows that each node of a graph reads, found once for questions that are asked many times.
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

  // `graph` must outlive this. `computed_together`: per node, the rows that its kernel computes together;
  // empty: 1 for all. `fixed`: per node, whether it must be computed whole whatever its operator; empty:
  // none. `axis`: columns and images are read likewise, and called rows all the same.
  explicit RowReads(const Graph& graph, std::span<const int64_t> computed_together = {},
                    const std::vector<bool>& fixed = {}, ImageAxis axis = ImageAxis::rows);

  const Graph& graph() const { return graph_; }
  ImageAxis axis() const { return axis_; }
  bool has_rows(size_t node) const { return nodes_[node].has_rows; }
  // The number of rows of the node's outputs.
  int64_t row_count(size_t node) const { return nodes_[node].row_count; }
  // The rows that are computed where these are wanted: not fewer, in multiples of computed_together.
  Rows computed(size_t node, const Rows& wanted) const;
  // The rows of input `slot` that a node with rows reads.
  RowsRead read(size_t node, size_t slot, const Rows& computed) const;

  size_t rows_axis(ValueId value) const { return axes_[value]; }
  int64_t value_rows(ValueId value) const { return graph_.values[value].type.shape[axes_[value]]; }
  // The node that computes the value, or kNone.
  size_t producer(ValueId value) const { return producers_[value]; }
  // The last node that reads it; the number of nodes for an output of the graph; kNone if nothing reads it.
  size_t last_reader(ValueId value) const { return last_readers_[value]; }

 private:
  struct Input {
    bool whole = true, may_be_more = false, monotone = true;
    std::vector<Rows> of_row;  // per row of the output; empty for images, each of which is read for itself
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

// The rows that each node reads, and the images of a batch.
struct AxisReads {
  // As for rows alone.
  explicit AxisReads(const Graph& graph, std::span<const int64_t> computed_together = {},
                     const std::vector<bool>& fixed = {});

  const Graph& graph() const { return rows.graph(); }
  const RowReads& along(ImageAxis axis) const { return axis == ImageAxis::images ? images : rows; }

  RowReads rows, images;
};

}  // namespace vellum
