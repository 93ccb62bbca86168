#include "exec/program_weights.hpp"

#include <string>

#include "vellum/error.hpp"

namespace vellum {

std::vector<std::byte> pack_weight(const VirtualTensor& weight) {
  std::vector<std::byte> bytes = weight.pack();
  if (bytes.size() != weight.desc.byte_size())
    throw Error(ErrorCode::internal, "weight '" + weight.name + "' packs to " + std::to_string(bytes.size()) +
                                         " bytes instead of " + std::to_string(weight.desc.byte_size()));
  return bytes;
}

std::vector<TensorId> weight_ids(const Program& program) {
  std::vector<TensorId> ids;
  for (TensorId id = 0; id < program.tensors.size(); ++id)
    if (program.tensors[id].role == TensorRole::weight && program.root(id) == id) ids.push_back(id);
  return ids;
}

}  // namespace vellum
