#include <algorithm>
#include <array>
#include <utility>

#include "passes/passes.hpp"
#include "passes/fuse/transformers.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

struct Pass {
  std::string_view name;
  void (*run)(Graph&);
};

constexpr Pass kDecompose{"decompose", decompose};
constexpr Pass kRemoveIdentities{"remove_identities", remove_identities};
constexpr Pass kMergeReshapes{"merge_reshapes", merge_reshapes};
constexpr Pass kFuseActivationPatterns{"fuse_activation_patterns", fuse_activation_patterns};
constexpr Pass kFuseLayerNorm{"fuse_layer_norm", fuse_layer_norm};
constexpr Pass kFuseSoftmax{"fuse_softmax", fuse_softmax};
constexpr Pass kFuseAttention{"fuse_attention", fuse_attention};
constexpr Pass kGatherRows{"gather_rows", gather_rows};
constexpr Pass kFuseChannelShuffle{"fuse_channel_shuffle", fuse_channel_shuffle};
constexpr Pass kMatmulToGemm{"matmul_to_gemm", matmul_to_gemm};
constexpr Pass kFuseTransposes{"fuse_transposes", fuse_transposes};
constexpr Pass kTokensToMatrices{"tokens_to_matrices", tokens_to_matrices};
constexpr Pass kMoveTransposes{"move_transposes", move_transposes};
constexpr Pass kConcatZerosToPad{"concat_zeros_to_pad", concat_zeros_to_pad};
constexpr Pass kNestConcats{"nest_concats", nest_concats};
constexpr Pass kFusePad{"fuse_pad", fuse_pad};
constexpr Pass kFoldBatchNorm{"fold_batch_norm", fold_batch_norm};
constexpr Pass kFoldScale{"fold_scale", fold_scale};
constexpr Pass kFuseBias{"fuse_bias", fuse_bias};
constexpr Pass kFuseResidual{"fuse_residual", fuse_residual};
constexpr Pass kFuseActivations{"fuse_activations", fuse_activations};
constexpr Pass kFuseSqueezeExcite{"fuse_squeeze_excite", fuse_squeeze_excite};
constexpr Pass kFuseChannelScale{"fuse_channel_scale", fuse_channel_scale};
constexpr Pass kShareConstants{"share_constants", share_constants};
constexpr Pass kRemoveDeadCode{"remove_dead_code", remove_dead_code};

constexpr std::array kPasses{
    kDecompose,          kRemoveIdentities,  kMergeReshapes,    kFuseActivationPatterns,
    kFuseLayerNorm,      kFuseSoftmax,       kFuseAttention,    kGatherRows,
    kFuseChannelShuffle, kMoveTransposes,    kMatmulToGemm,     kFuseTransposes,
    kTokensToMatrices,   kConcatZerosToPad,  kNestConcats,      kFusePad,
    kFoldBatchNorm,      kFoldScale,         kFuseBias,         kFuseResidual,
    kFuseActivations,    kFuseSqueezeExcite, kFuseChannelScale, kShareConstants,
    kRemoveDeadCode};

// Runs passes on a graph, but for those that are switched off.
class Optimiser {
 public:
  Optimiser(Graph& graph, std::span<const std::string> disabled) : graph_(graph), disabled_(disabled) {}

  void run(const Pass& pass) {
    if (std::find(disabled_.begin(), disabled_.end(), pass.name) == disabled_.end()) pass.run(graph_);
  }

  // Normalisations, scales and shifts may follow each other in any order, each round folding one more of a
  // chain.
  void fold_linear_chains() {
    for (size_t before = SIZE_MAX; graph_.nodes.size() < before;) {
      before = graph_.nodes.size();
      run(kFoldBatchNorm);
      run(kFoldScale);
      run(kFuseBias);
    }
  }

 private:
  Graph& graph_;
  std::span<const std::string> disabled_;
};

}  // namespace

std::vector<std::string> pass_names() {
  std::vector<std::string> names;
  for (const Pass& pass : kPasses) names.emplace_back(pass.name);
  return names;
}

void check_pass_names(std::span<const std::string> names) {
  for (const std::string& name : names) {
    if (std::any_of(kPasses.begin(), kPasses.end(), [&](const Pass& pass) { return pass.name == name; }))
      continue;
    std::string known;
    for (const Pass& pass : kPasses) known += (known.empty() ? "" : ", ") + std::string(pass.name);
    throw Error(ErrorCode::invalid_argument, "there is no pass '" + name + "'; the passes are " + known);
  }
}

Graph optimise(Graph graph, const InputShapes& shapes, std::span<const std::string> disabled) {
  check_pass_names(disabled);
  infer_shapes_and_fold(graph, shapes);
  Optimiser optimiser(graph, disabled);
  optimiser.run(kDecompose);
  optimiser.run(kRemoveIdentities);
  optimiser.run(kMergeReshapes);
  optimiser.run(kRemoveIdentities);  // two transpositions may have cancelled out
  optimiser.run(kFuseActivationPatterns);
  optimiser.run(kFuseLayerNorm);
  optimiser.run(kFuseSoftmax);
  optimiser.run(kFuseAttention);
  optimiser.run(kGatherRows);
  optimiser.run(kFuseChannelShuffle);
  optimiser.run(kRemoveDeadCode);  // its readers would count
  optimiser.run(kMoveTransposes);  // after patterns, which are told by their axes
  optimiser.run(kMatmulToGemm);
  optimiser.run(kMergeReshapes);
  optimiser.run(kRemoveIdentities);
  optimiser.run(kFuseTransposes);
  optimiser.run(kTokensToMatrices);
  optimiser.run(kConcatZerosToPad);
  optimiser.run(kNestConcats);
  optimiser.run(kFusePad);
  optimiser.fold_linear_chains();
  optimiser.run(kFuseResidual);
  optimiser.run(kFuseActivations);
  optimiser.run(kFuseSqueezeExcite);
  optimiser.run(kFuseChannelScale);
  optimiser.run(kShareConstants);
  optimiser.run(kRemoveDeadCode);
  check(graph);
  return graph;
}

}  // namespace vellum
