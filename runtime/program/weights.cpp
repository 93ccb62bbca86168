#include "program/weights.hpp"

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

namespace {

std::string print_of(std::span<const std::byte> bytes) {
  const platform::Fingerprint content = platform::fingerprint(bytes);
  return std::to_string(content.low) + "," + std::to_string(content.high);
}

std::string form_of(const TensorDesc& desc) {
  return to_string(desc.shape) + " " + std::string(name(desc.element)) + " " +
         std::string(name(desc.storage)) + " " + std::string(name(desc.layout)) + " ";
}

// `name_of`: what a constant is called that is known without its content; empty for others.
template <typename NameOf>
std::string key_of(const VirtualTensor& weight, NameOf name_of) {
  std::string text = form_of(weight.desc) + weight.origin.packing.key();
  for (const HostTensor& source : weight.origin.sources) {
    text += " " + std::string(name(source.dtype())) + to_string(source.shape()) + "=";
    const std::string known = name_of(source.data());
    text += known.empty() ? print_of({source.data(), source.byte_size()}) : known;
  }
  return text;
}

}  // namespace

std::string weight_key(const VirtualTensor& weight, const FixedConstants& constants) {
  if (weight.origin.packing.scheme == PackingScheme::unknown)
    return form_of(weight.desc) + print_of(pack_weight(weight));
  return key_of(weight, [&](const std::byte* data) {
    return constants.contains(data) ? "@" + std::to_string(reinterpret_cast<uintptr_t>(data)) : std::string();
  });
}

std::string portable_weight_key(const VirtualTensor& weight, const ConstantIds& constants) {
  if (weight.origin.packing.scheme == PackingScheme::unknown) return {};
  return key_of(weight, [&](const std::byte* data) {
    const auto found = constants.find(data);
    return found == constants.end() ? std::string() : "#" + std::to_string(found->second);
  });
}

}  // namespace vellum
