#include "kernels/weights.hpp"

#include "platform/fingerprint.hpp"
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

std::string weight_key(const VirtualTensor& weight, const FixedConstants& constants) {
  std::string text = to_string(weight.desc.shape) + " " + std::string(name(weight.desc.element)) + " " +
                     std::string(name(weight.desc.storage)) + " " + std::string(name(weight.desc.layout)) +
                     " ";
  if (weight.origin.packing.empty()) {
    const platform::Fingerprint content = platform::fingerprint(pack_weight(weight));
    return text + std::to_string(content.low) + "," + std::to_string(content.high);
  }
  text += weight.origin.packing;
  for (const HostTensor& source : weight.origin.sources) {
    text += " " + std::string(name(source.dtype())) + to_string(source.shape()) + "=";
    if (constants.contains(source.data())) {
      text += "@" + std::to_string(reinterpret_cast<uintptr_t>(source.data()));
    } else {
      const platform::Fingerprint content = platform::fingerprint({source.data(), source.byte_size()});
      text += std::to_string(content.low) + "," + std::to_string(content.high);
    }
  }
  return text;
}

}  // namespace vellum
