#include "context_node.hpp"

#include <fstream>
#include <limits>
#include <memory>

#include "api/pack_graph.hpp"
#include "platform/files.hpp"
#include "platform/utf8_path.hpp"
#include "provider.hpp"
#include "read_values.hpp"
#include "vellum/caps.hpp"

namespace vellum::ort {
namespace {

namespace fs = std::filesystem;

constexpr const char* kType = "EPContext";
constexpr const char* kDomain = "com.microsoft";

std::shared_ptr<const std::byte> owned_bytes(std::vector<std::byte> bytes) {
  const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return {owner, owner->data()};
}

struct AttributeList {
  std::vector<OrtOpAttr*> attributes;

  AttributeList() = default;
  AttributeList(const AttributeList&) = delete;
  AttributeList& operator=(const AttributeList&) = delete;
  ~AttributeList() {
    for (OrtOpAttr* attribute : attributes) api().ReleaseOpAttr(attribute);
  }
  void add(const char* name, int64_t value) {
    attributes.push_back(get<OrtOpAttr*>(api().CreateOpAttr, name, &value, 1, ORT_OP_ATTR_INT));
  }
  void add(const char* name, const std::string& text) {
    if (text.size() > static_cast<size_t>(std::numeric_limits<int>::max()))
      throw Error(ErrorCode::unsupported,
                  "a bundle beyond 2 GiB cannot be embedded: set ep.context_embed_mode to 0");
    attributes.push_back(get<OrtOpAttr*>(api().CreateOpAttr, name, text.data(), static_cast<int>(text.size()),
                                         ORT_OP_ATTR_STRING));
  }
};

std::vector<const char*> pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> result;
  for (const std::string& text : texts) result.push_back(text.c_str());
  return result;
}

// The model that the runtime writes: where the application wants it, or beside the model that it read.
fs::path context_model(const ProviderOptions& options, const fs::path& model_file) {
  if (!options.context.file.empty()) return options.context.file;
  if (model_file.empty())
    throw Error(ErrorCode::invalid_argument,
                "set ep.context_file_path: a model in memory has no folder for the bundle beside it");
  return model_file.parent_path() / (model_file.stem().string() + "_ctx.onnx");
}

// Names of nodes may have any characters.
std::string file_name(const std::string& name) {
  std::string result;
  for (const char c : name)
    result += (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ? c : '_';
  return result + ".vellum";
}

}  // namespace

bool is_context_node(const OrtNode& node) {
  return std::string_view(get<const char*>(api().Node_GetOperatorType, &node)) == kType &&
         std::string_view(get<const char*>(api().Node_GetDomain, &node)) == kDomain &&
         read_attributes(node).get_string("source", "") == kProviderName;
}

Model load_context(const OrtNode& node, const fs::path& model_file) {
  const Attributes attributes = read_attributes(node);
  const std::string context = attributes.get_string("ep_cache_context", "");
  if (attributes.get_int("embed_mode", 1) != 0) {
    const auto* begin = reinterpret_cast<const std::byte*>(context.data());
    return Model::load(owned_bytes({begin, begin + context.size()}), context.size());
  }
  const fs::path name = platform::utf8_path(context);
  // The file is beside the model, whatever the model says.
  if (name.empty() || name.has_parent_path())
    throw Error(ErrorCode::corrupt_model, "the bundle of an EPContext node must be beside the model");
  return Model::load(model_file.parent_path() / name);
}

OrtNode* make_context_node(ContextSource source, const Device& device, const ProviderOptions& options) {
  std::string bundle;
  const auto append = [&](std::span<const std::byte> piece) {
    bundle.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  };
  SessionOptions session = options.session;
  session.input_shapes = source.shapes;
  pack_graph(std::move(source.graph), std::move(source.record), append, Caps::of(device), session);
  const std::string name = options.context.name_prefix + source.name;
  AttributeList attributes;
  attributes.add("main_context", 1);
  attributes.add("source", kProviderName);
  attributes.add("partition_name", name);
  attributes.add("ep_sdk_version", VELLUM_ONNXRUNTIME_VERSION);
  attributes.add("embed_mode", options.context.embed ? 1 : 0);
  if (options.context.embed) {
    attributes.add("ep_cache_context", bundle);
  } else {
    const fs::path model = context_model(options, source.model_file);
    const fs::path file = model.parent_path() / (model.stem().string() + "_" + file_name(name));
    const auto* begin = reinterpret_cast<const std::byte*>(bundle.data());
    const std::span<const std::byte> pieces[] = {{begin, bundle.size()}};
    platform::write_file_atomically(file, pieces);
    attributes.add("ep_cache_context", platform::to_utf8(file.filename()));
  }
  const std::vector<const char*> inputs = pointers(source.inputs), outputs = pointers(source.outputs);
  return get<OrtNode*>(
      [&](const auto&... arguments) { return api().GetModelEditorApi()->CreateNode(arguments...); }, kType,
      kDomain, name.c_str(), inputs.data(), inputs.size(), outputs.data(), outputs.size(),
      attributes.attributes.data(), attributes.attributes.size());
}

}  // namespace vellum::ort
