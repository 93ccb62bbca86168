// Operators that are local along the rows of an image: finds the input rows that an operator reads to compute
// some rows of its outputs, and the operator that computes only these rows. Every element is a sum of the
// same terms in the same order as in the whole. operator_images.hpp does the same for the images of a batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "graph/graph.hpp"

namespace vellum {

// The axis along which images, or a batch of images, are divided. Everything below says "rows", which means
// columns or images for the other values.
enum class ImageAxis : uint8_t { rows, columns, images };

// A range of rows.
struct Rows {
  int64_t begin = 0, end = 0;

  int64_t count() const { return end - begin; }
  bool empty() const { return begin >= end; }
  bool operator==(const Rows&) const = default;
};

// Returns the smallest range that contains both. Empty ranges are ignored.
Rows hull(const Rows& a, const Rows& b);

// The rows of one input that an operator reads to compute rows of its outputs.
struct RowsRead {
  bool whole = true;         // the whole input: weights, factors per channel, inputs broadcast along the rows
  Rows rows = {};            // the rows, if `whole` is false
  bool may_be_more = false;  // the input may have more rows than these: the padding is adjusted
};

// Returns for each value the dimension of its rows: 2 in N, C, H, W; 1 in N, H, W, C, after or before a
// Transpose. The dimension of columns is the next one, that of images the first.
std::vector<size_t> rows_axes(const Graph& graph, ImageAxis axis = ImageAxis::rows);

// Returns whether the rows of all outputs can be computed separately. Shapes must be known. `axes`:
// rows_axes() of the graph.
bool has_rows(const Graph& graph, std::span<const size_t> axes, const Node& node,
              ImageAxis axis = ImageAxis::rows);

// Returns the granularity of rows that the operator computes: ranges begin at a multiple of it, and end at a
// multiple of it or at the last row.
int64_t rows_computed_together(const Node& node, ImageAxis axis = ImageAxis::rows);

// Returns for each input the rows that the node reads to compute `computed`. Requires has_rows().
std::vector<RowsRead> rows_read(const Graph& graph, const Node& node, const Rows& computed,
                                ImageAxis axis = ImageAxis::rows);

// Returns for each output row of a Resize the rows of input 0 that it reads. Faster than rows_read() for each
// row. Requires has_rows().
std::vector<Rows> rows_resized(const Graph& graph, const Node& node, ImageAxis axis = ImageAxis::rows);

// Returns the operator that computes the rows `computed` of the node from inputs that hold the rows `held`
// (per input). These are the rows of rows_read(), or more if may_be_more. Requires has_rows().
std::shared_ptr<const Operator> operator_for_rows(const Graph& graph, const Node& node, const Rows& computed,
                                                  std::span<const Rows> held,
                                                  ImageAxis axis = ImageAxis::rows);

// Returns whether each output element depends only on input elements at the same position, up to
// broadcasting; for BatchNormalization also on the parameters of its channel.
bool is_elementwise(const Node& node);

}  // namespace vellum
