// Operators that are local along the rows of an image: which rows of its inputs an operator reads to compute
// some rows of its outputs, and the operator that computes these rows alone. Every element is the sum of the
// same terms in the same order as in the whole. Images of a batch are likewise (operator_images.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "graph/graph.hpp"

namespace vellum {

// The axis along which parts of images are, or of a batch of images. Everything below is of rows, or likewise
// of columns or images.
enum class ImageAxis : uint8_t { rows, columns, images };

// A range of rows.
struct Rows {
  int64_t begin = 0, end = 0;

  int64_t count() const { return end - begin; }
  bool empty() const { return begin >= end; }
  bool operator==(const Rows&) const = default;
};

// The least range that contains both; an empty one contains nothing.
Rows hull(const Rows& a, const Rows& b);

// The rows of one input that an operator reads to compute rows of its outputs.
struct RowsRead {
  bool whole = true;         // all of it: weights, a factor per channel, what is broadcast along the rows
  Rows rows = {};            // otherwise
  bool may_be_more = false;  // an input of more rows than these serves as well: its padding is adjusted
};

// The dimension of each value that holds its rows: 2 in N, C, H, W; 1 where the value is a Transpose's to or
// from N, H, W, C. That of its columns is one more, that of images the first.
std::vector<size_t> rows_axes(const Graph& graph, ImageAxis axis = ImageAxis::rows);

// Whether rows of all outputs can be computed apart from the others. Shapes must be known. `axes`: those of
// the graph.
bool has_rows(const Graph& graph, std::span<const size_t> axes, const Node& node,
              ImageAxis axis = ImageAxis::rows);

// The number of rows that the operator computes together: rows are computed from a multiple of it on, to a
// multiple of it or the last row.
int64_t rows_computed_together(const Node& node, ImageAxis axis = ImageAxis::rows);

// For a node that has rows, per input.
std::vector<RowsRead> rows_read(const Graph& graph, const Node& node, const Rows& computed,
                                ImageAxis axis = ImageAxis::rows);

// The rows of input 0 that a Resize which has rows reads for each row of its output; rows_read() would find
// all of them anew for each one.
std::vector<Rows> rows_resized(const Graph& graph, const Node& node, ImageAxis axis = ImageAxis::rows);

// The operator that computes the rows `computed` of a node that has rows, where its inputs hold the rows
// `held`, per input: those of rows_read(), or more of them where that allows it.
std::shared_ptr<const Operator> operator_for_rows(const Graph& graph, const Node& node, const Rows& computed,
                                                  std::span<const Rows> held,
                                                  ImageAxis axis = ImageAxis::rows);

// Whether it computes each element of its outputs from elements at the same place: broadcast ones, or, of
// BatchNormalization, those of its channel.
bool is_elementwise(const Node& node);

}  // namespace vellum
