#include <optional>

#include "passes/fuse/channel_affine.hpp"
#include "passes/passes.hpp"

namespace vellum {
namespace {

// x + c, x - c, c - x.
std::optional<ChannelAffine> affine_of_bias(const BinaryConstant& binary, const Shape& data) {
  const bool subtracts = binary.op->kind == BinaryKind::sub;
  if (binary.op->kind != BinaryKind::add && !subtracts) return std::nullopt;
  const auto shifts = per_channel(*binary.constant, data);
  if (!shifts) return std::nullopt;
  const bool negates_data = subtracts && binary.data_slot == 1, negates_constant = subtracts && !negates_data;
  ChannelAffine affine;
  for (const double shift : *shifts) {
    affine.scale.push_back(negates_data ? -1.0 : 1.0);
    affine.shift.push_back(negates_constant ? -shift : shift);
  }
  return affine;
}

}  // namespace

void fuse_bias(Graph& graph) { fold_binary_constants(graph, affine_of_bias); }

}  // namespace vellum
