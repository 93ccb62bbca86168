// Between tokens (N, H * W, C) and pictures (N, C, H, W) exporters write a Transpose of the last two
// dimensions and a Reshape. Here the Transpose is that of a picture, for which there is a kernel between the
// layouts of both; the Reshape, of tokens, is none in memory.
#include <memory>

#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/movement/transpose.hpp"
#include "passes/layout/nchw_form.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/build.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// Whether the node exchanges the last two of three dimensions.
bool exchanges_tokens_and_channels(const GraphEditor& editor, size_t index) {
  const auto transpose = match_node<Transpose>(editor, index);
  return transpose && is_float_value(editor, transpose.input()) &&
         editor.type(transpose.input()).shape.size() == 3 &&
         transpose->permutation(3) == std::vector<size_t>{0, 2, 1};
}

// Whether the picture's rows and columns are the last dimension of (N, C, H * W).
bool is_picture_of(const Shape& picture, const Shape& flat) {
  return picture.size() == kImageRank && flat.size() == 3 && picture[0] == flat[0] && picture[1] == flat[1] &&
         element_count(picture) > 0 && element_count(picture) == element_count(flat);
}

// The node is a Reshape of transposed tokens to a picture.
void transpose_after_reshape(GraphEditor& editor, size_t index) {
  const ValueId flat = editor.node(index).inputs[0];
  const auto source = editor.producer(flat);
  if (!source || !exchanges_tokens_and_channels(editor, *source)) return;
  const TensorType picture = editor.type(editor.node(index).outputs[0]);
  if (!is_picture_of(picture.shape, editor.type(flat).shape)) return;
  const Shape& s = picture.shape;
  const Shape tokens{s[0], s[2], s[3], s[1]};
  const ValueId rows = editor.compute_before(index, editor.node(index).name + "/tokens", reshape_to(tokens),
                                             {editor.node(*source).inputs[0]}, {picture.dtype, tokens});
  editor.replace(index, transpose_to_nchw(), {rows});
}

// The node is a Transpose, to tokens, of a picture that a Reshape made flat.
void transpose_before_reshape(GraphEditor& editor, size_t index) {
  const ValueId flat = editor.node(index).inputs[0];
  const auto reshape = match_producer<ReshapeFamily>(editor, flat);
  if (!reshape || !is_picture_of(editor.type(reshape.input()).shape, editor.type(flat).shape)) return;
  const TensorType picture = editor.type(reshape.input());
  const Shape& s = picture.shape;
  const ValueId rows = editor.compute_before(index, editor.node(index).name + "/tokens", transpose_to_nhwc(),
                                             {reshape.input()}, {picture.dtype, {s[0], s[2], s[3], s[1]}});
  editor.replace(index, reshape_to(editor.type(editor.node(index).outputs[0]).shape), {rows});
}

}  // namespace

void transpose_pictures(Graph& graph) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes()) {
    if (match_node<ReshapeFamily>(editor, index))
      transpose_after_reshape(editor, index);
    else if (exchanges_tokens_and_channels(editor, index))
      transpose_before_reshape(editor, index);
  }
  editor.commit();
  remove_dead_code(graph);
}

}  // namespace vellum
