#include <algorithm>
#include <iterator>

#include "passes/passes.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

enum class Repeat : uint8_t { once, until_unchanged };

struct Pass {
  std::string_view name;
  void (*run)(Graph&);
  // Passes in a row that say until_unchanged are one loop, which ends with a round that removes no node.
  Repeat repeat = Repeat::once;
};

// In the order in which they run. A pass may run several times.
constexpr Pass kPasses[] = {
    {"fuse_packed_weights", fuse_packed_weights},  // first: it folds the matrices that it does not use
    {"decompose", decompose},  // before all that do not know the operators that it removes
    {"fuse_dynamic_quantization", fuse_dynamic_quantization},  // while their scales are products
    {"widen_halves", widen_halves},            // before all that matches patterns or folds constants
    {"fuse_quantization", fuse_quantization},  // after decompose, which makes such pairs of QLinear operators
    {"remove_identities", remove_identities},
    {"scatter_to_concat", scatter_to_concat},  // before merge_reshapes: it makes Reshapes of rows
    {"merge_reshapes", merge_reshapes},
    {"remove_identities", remove_identities},  // Transposes that cancelled each other
    {"fuse_activation_patterns", fuse_activation_patterns},
    {"gather_one_hot", gather_one_hot},  // after fuse_activation_patterns: it computes them in the table
    {"fuse_slice_sums", fuse_slice_sums},
    {"fuse_adaptive_pool", fuse_adaptive_pool},  // after fuse_slice_sums, which makes its ReduceSum
    {"fuse_layer_norm", fuse_layer_norm},
    {"fold_constant_norms", fold_constant_norms},  // after fuse_layer_norm, which makes LayerNormalization
    {"fuse_group_norm", fuse_group_norm},
    {"fuse_length_norm", fuse_length_norm},
    {"fuse_softmax", fuse_softmax},
    {"fuse_rotation", fuse_rotation},
    {"fuse_attention", fuse_attention},  // after fuse_softmax: it matches Softmax
    {"fuse_attention_norms", fuse_attention_norms},
    {"fuse_causal_masks", fuse_causal_masks},
    {"gather_rows", gather_rows},  // after fuse_attention, which reads rearranged heads itself
    {"fuse_channel_shuffle", fuse_channel_shuffle},
    {"volumes_to_frames", volumes_to_frames},        // before all that fuses layers of pictures
    {"transpose_pictures", transpose_pictures},      // after the patterns of tokens
    {"remove_dead_code", remove_dead_code},          // move_transposes counts readers
    {"move_transposes", move_transposes},            // after patterns, which match axes of the model's layout
    {"columns_to_sequences", columns_to_sequences},  // before all that fuses layers; after move_transposes
    {"split_products", split_products},              // after fuse_attention, which reads split heads itself
    {"multiply_from_left", multiply_from_left},      // before matmul_to_gemm, which takes other products
    {"matmul_to_gemm", matmul_to_gemm},              // after move_transposes, which makes 1x1 Conv of some
    {"merge_reshapes", merge_reshapes},              // Reshapes and Transposes of the passes before
    {"remove_identities", remove_identities},
    {"fuse_transposes", fuse_transposes},
    {"scale_products", scale_products},  // after fuse_attention, which takes the scale of scores itself
    {"tokens_to_matrices", tokens_to_matrices},  // after matmul_to_gemm: it starts from the rows of Gemms
    {"rotate_in_matrices", rotate_in_matrices},  // after tokens_to_matrices: where attention reads matrices
    {"concat_zeros_to_pad", concat_zeros_to_pad},
    {"nest_concats", nest_concats},
    {"fuse_pad", fuse_pad},
    {"fold_batch_norm", fold_batch_norm, Repeat::until_unchanged},  // chains of the four in any order
    {"fold_scale", fold_scale, Repeat::until_unchanged},
    {"fuse_bias", fuse_bias, Repeat::until_unchanged},
    {"merge_convolutions", merge_convolutions, Repeat::until_unchanged},
    {"merge_depthwise_banks", merge_depthwise_banks, Repeat::until_unchanged},  // each with its folded bias
    {"fuse_residual", fuse_residual},              // after folding: operators with a residual do not fold
    {"fuse_activations", fuse_activations},        // after fuse_residual: the residual is added before them
    {"fuse_squeeze_excite", fuse_squeeze_excite},  // after fuse_activations: its products have activations
    {"factor_residual_scale", factor_residual_scale},  // before fuse_channel_scale, which takes its products
    {"fuse_channel_scale", fuse_channel_scale},
    {"normalize_pictures", normalize_pictures},  // before merge_moves, which takes the Transposes
    {"merge_moves", merge_moves},                // after the passes that know Transpose, Slice and Split
    {"share_constants", share_constants},        // after folding, which adds constants
    {"remove_dead_code", remove_dead_code},
};

}  // namespace

std::vector<std::string> pass_names() {
  std::vector<std::string> names;
  for (const Pass& pass : kPasses)
    if (std::find(names.begin(), names.end(), pass.name) == names.end()) names.emplace_back(pass.name);
  return names;
}

void check_pass_names(std::span<const std::string> names) {
  const std::vector<std::string> known = pass_names();
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string list;
    for (const std::string& pass : known) list += (list.empty() ? "" : ", ") + pass;
    throw Error(ErrorCode::invalid_argument, "there is no pass '" + name + "'; the passes are " + list);
  }
}

Graph optimise(Graph graph, const InputShapes& shapes, std::span<const std::string> disabled,
               const InputTensors& values) {
  check_pass_names(disabled);
  const auto is_enabled = [&](std::string_view pass) {
    return std::find(disabled.begin(), disabled.end(), pass) == disabled.end();
  };
  infer_shapes_and_fold(
      graph, shapes, values,
      is_enabled("fuse_packed_weights") ? DequantizedMatrices::keep : DequantizedMatrices::fold);
  const auto run = [&](const Pass& pass) {
    if (is_enabled(pass.name)) pass.run(graph);
  };
  for (auto pass = std::begin(kPasses); pass != std::end(kPasses);) {
    if (pass->repeat == Repeat::once) {
      run(*pass++);
      continue;
    }
    const auto end =
        std::find_if(pass, std::end(kPasses), [](const Pass& other) { return other.repeat == Repeat::once; });
    for (size_t before = SIZE_MAX; graph.nodes.size() < before;) {
      before = graph.nodes.size();
      std::for_each(pass, end, run);
    }
    pass = end;
  }
  check(graph);
  return graph;
}

}  // namespace vellum
