#include <cmath>
#include <optional>

#include "passes/fuse/channel_affine.hpp"
#include "passes/passes.hpp"

namespace vellum {
namespace {

std::optional<ChannelAffine> affine_of_scale(const BinaryConstant& binary, const Shape& data) {
  const bool divides = binary.op->kind == BinaryKind::div && binary.data_slot == 0;
  if (binary.op->kind != BinaryKind::mul && !divides) return std::nullopt;
  const auto factors = per_channel(*binary.constant, data);
  if (!factors) return std::nullopt;
  ChannelAffine affine;
  for (const double factor : *factors) {
    affine.scale.push_back(divides ? 1.0 / factor : factor);
    affine.shift.push_back(0.0);
    if (!std::isfinite(affine.scale.back())) return std::nullopt;
  }
  return affine;
}

}  // namespace

void fold_scale(Graph& graph) { fold_binary_constants(graph, affine_of_scale); }

}  // namespace vellum
