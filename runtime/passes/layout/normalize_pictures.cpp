// Pictures become tokens, by a Transpose and a Reshape, and each token is normalised. This pass normalises
// the channels of the pictures instead. Then the kernel of the layer before may compute the normalisation,
// and the Transpose may be a part of what reads the tokens (merge_moves,
// kernels/framework/fuse_pixel_moves.hpp). Where other layers read the tokens before, too, the normalised
// tokens must be read as pictures again, or as rows of products:
//
//   picture -> Transpose -> Reshape -> LayerNormalization -> Reshape -> Transpose -> picture
//                                   -> others             -> Reshape -> Gemm
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/operators/matmul/matmul.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/movement/transpose.hpp"
#include "graph/operators/reduction/channel_norm.hpp"
#include "graph/operators/reduction/normalization.hpp"
#include "passes/layout/nchw_form.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// A normalisation of tokens, and the activation after it, if any.
struct NormedTokens {
  size_t norm = 0, reshape = 0, transpose = 0;
  ValueId picture = kNoValue;
  std::vector<ValueId> factors = {};  // scale and bias
  std::shared_ptr<const Operator> op = nullptr;
  std::optional<size_t> activation = std::nullopt;
  // Whether nothing else reads the tokens before. If others do: the Transposes of normalised tokens to
  // pictures.
  bool alone = true;
  std::vector<size_t> pictures = {};
};

bool is_of_channels(const GraphEditor& editor, ValueId factor, int64_t channels) {
  const HostTensor* constant = editor.constant(factor);
  return constant && constant->shape() == Shape{channels};
}

// Returns whether a Transpose makes pictures of tokens in N, H, W, C, or in H, W, N, C where N is 1.
bool makes_pictures(const GraphEditor& editor, size_t index) {
  const auto transpose = match_node<Transpose>(editor, index);
  if (!transpose) return false;
  const Shape& shape = editor.type(transpose.input(0)).shape;
  return is_transpose_to_nchw(*transpose.op) ||
         (shape.size() == 4 && shape[2] == 1 && transpose->permutation(4) == std::vector<size_t>{2, 3, 0, 1});
}

// Finds the Transposes of normalised tokens to pictures. Returns whether there are some, and all other
// readers are rows of products.
bool find_pictures(const GraphEditor& editor, NormedTokens& tokens) {
  for (const size_t reader : editor.readers(editor.node(tokens.norm).outputs[0])) {
    const auto reshape = match_node<Reshape>(editor, reader);
    if (!reshape || editor.is_graph_output(reshape.node->outputs[0])) return false;
    const ValueId reshaped = reshape.node->outputs[0];
    const auto next = editor.only_reader(reshaped);
    if (next && makes_pictures(editor, *next)) {
      const ValueId picture = editor.node(*next).outputs[0];
      if (editor.type(picture).shape != editor.type(tokens.picture).shape || editor.is_graph_output(picture))
        return false;
      tokens.pictures.push_back(*next);
    } else if (!std::ranges::all_of(editor.readers(reshaped), [&](size_t product) {
                 return match_node<Gemm>(editor, product) && editor.node(product).inputs[0] == reshaped;
               })) {
      return false;
    }
  }
  return !tokens.pictures.empty();
}

// Matches Transpose -> Reshape -> LayerNormalization at `index`.
std::optional<NormedTokens> match_tokens(const GraphEditor& editor, size_t index) {
  const auto norm = match_node<LayerNormalization>(editor, index);
  if (!norm || norm.node->outputs.size() != 1 || !is_float_value(editor, norm.node->outputs[0]))
    return std::nullopt;
  const Shape& tokens = editor.type(norm.input(0)).shape;
  if (tokens.empty() || normalize_axis(norm->axis, tokens.size()) != tokens.size() - 1) return std::nullopt;
  const auto reshape = match_producer<Reshape>(editor, norm.input(0));
  if (!reshape) return std::nullopt;
  const auto transpose = match_producer<Transpose>(editor, reshape.input(0));
  if (!transpose || !is_transpose_to_nhwc(*transpose.op)) return std::nullopt;
  const Shape& picture = editor.type(transpose.input(0)).shape;
  if (picture.size() != 4 || picture[1] != tokens.back()) return std::nullopt;
  NormedTokens match{
      .norm = index, .reshape = reshape.index, .transpose = transpose.index, .picture = transpose.input(0)};
  match.alone =
      editor.only_reader(norm.input(0)) == index && editor.only_reader(reshape.input(0)) == reshape.index;
  if (!match.alone && !find_pictures(editor, match)) return std::nullopt;
  for (size_t slot = 1; slot < norm.node->inputs.size(); ++slot) {
    if (norm.input(slot) == kNoValue) continue;
    if (!is_of_channels(editor, norm.input(slot), picture[1])) return std::nullopt;
    match.factors.push_back(norm.input(slot));
  }
  if (match.factors.empty()) return std::nullopt;
  auto op = std::make_shared<ChannelNormalization>();
  op->epsilon = norm->epsilon;
  op->centred = norm->centred;
  match.op = std::move(op);
  return match;
}

// Adds the activation of the only reader of the normalised tokens.
void add_activation(const GraphEditor& editor, NormedTokens& tokens) {
  const ValueId normed = editor.node(tokens.norm).outputs[0];
  const auto reader = editor.only_reader(normed);
  if (!reader || !tokens.alone || editor.node(*reader).outputs.size() != 1) return;
  const auto applied = match_activation(editor, editor.node(*reader).outputs[0]);
  if (!applied || applied->input != normed) return;
  if (auto op = tokens.op->with_activation(applied->activation)) {
    tokens.op = std::move(op);
    tokens.activation = *reader;
  }
}

void normalize(GraphEditor& editor, NormedTokens tokens) {
  const std::string name = editor.node(tokens.norm).name;
  std::vector<ValueId> inputs{tokens.picture};
  inputs.insert(inputs.end(), tokens.factors.begin(), tokens.factors.end());
  const ValueId normed = editor.compute_before(tokens.transpose, name + "/picture", tokens.op,
                                               std::move(inputs), editor.type(tokens.picture));
  if (tokens.alone) {
    editor.set_inputs(tokens.transpose, {normed});
    editor.bypass(tokens.norm);
    if (tokens.activation) editor.bypass(*tokens.activation);
    return;
  }
  for (const size_t transpose : tokens.pictures) {
    const size_t reshape = *editor.producer(editor.node(transpose).inputs[0]);
    editor.replace_reads(editor.node(transpose).outputs[0], normed);
    editor.remove(transpose);
    editor.remove(reshape);
  }
  const Node transpose = editor.node(tokens.transpose), reshape = editor.node(tokens.reshape);
  const ValueId moved = editor.compute_before(tokens.norm, name + "/transpose", transpose.op, {normed},
                                              editor.type(transpose.outputs[0]));
  inputs = reshape.inputs;
  inputs[0] = moved;
  editor.replace(tokens.norm, reshape.op, std::move(inputs));
}

}  // namespace

void normalize_pictures(Graph& graph) {
  GraphEditor editor(graph);
  for (const size_t index : editor.nodes()) {
    if (editor.removed(index)) continue;
    std::optional<NormedTokens> tokens = match_tokens(editor, index);
    if (!tokens || editor.is_graph_output(editor.node(index).outputs[0])) continue;
    add_activation(editor, *tokens);
    if (tokens->activation && editor.is_graph_output(editor.node(*tokens->activation).outputs[0])) continue;
    normalize(editor, std::move(*tokens));
  }
  editor.commit();
}

}  // namespace vellum
