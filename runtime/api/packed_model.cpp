#include "api/packed_model.hpp"

#include <algorithm>

#include "caps_file/caps_json.hpp"
#include "exec/pipeline_keys.hpp"
#include "pack/graph.hpp"
#include "vellum/error.hpp"

namespace vellum {

PackedModel::PackedModel(std::shared_ptr<const packfile::File> file, const Graph& graph, bool trusted)
    : file_(std::move(file)), ids_(packfile::constants_by_address(graph)), trusted_(trusted) {}

std::span<const std::byte> PackedModel::find(const VirtualTensor& weight) const {
  const std::string key = portable_weight_key(weight, ids_);
  const std::span<const std::byte> bytes = key.empty() ? std::span<const std::byte>() : file_->weight(key);
  if (!bytes.empty() && bytes.size() != weight.desc.byte_size())
    throw Error(ErrorCode::corrupt_model, file_->source() + ": weight '" + weight.name + "' has " +
                                              std::to_string(bytes.size()) + " bytes instead of " +
                                              std::to_string(weight.desc.byte_size()) +
                                              "; bundle the model again");
  return bytes;
}

bool PackedModel::has_shaders_of(const Program& program) const {
  return std::ranges::all_of(pipeline_keys(program), [&](const gpu::PipelineKey& key) {
    return file_->has_shader(gpu::shader_digest(gpu::shader_request(key)));
  });
}

bool PackedModel::has_shader_of(const Program& program, const Dispatch& dispatch) const {
  return file_->has_shader(gpu::shader_digest(gpu::shader_request(pipeline_key(program, dispatch))));
}

std::optional<DeviceCaps> PackedModel::caps() const {
  if (file_->caps().empty()) return {};
  try {
    return caps_from_json(file_->caps(), "the caps in it");
  } catch (const Error&) {
    return {};
  }
}

}  // namespace vellum
