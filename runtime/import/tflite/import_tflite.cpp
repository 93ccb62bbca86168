#include <fstream>
#include <new>
#include <vector>

#include "graph/operator_support.hpp"
#include "import/import.hpp"
#include "import/model_file.hpp"
#include "import/names.hpp"
#include "import/tflite/subgraph.hpp"
#include "platform/utf8_path.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace tflite {
namespace {

// Offsets in a flatbuffer are signed 32-bit numbers. Larger models store their weights after it.
constexpr uint64_t kLargestFlatbuffer = FLATBUFFERS_MAX_BUFFER_SIZE - 1;

std::string_view key_of(const schema::SignatureDef& signature) {
  return signature.signature_key() == nullptr ? std::string_view() : signature.signature_key()->string_view();
}

// Returns the signature with this name; without a name "serving_default", which is TensorFlow's name of the
// first, or else the file's first signature. Null if the file has no signatures.
const schema::SignatureDef* choose_signature(const schema::Model& model, std::string_view wanted) {
  const auto* signatures = model.signature_defs();
  const schema::SignatureDef* chosen = nullptr;
  constexpr size_t kLongestList = 1000;
  std::string list;  // for the message
  for (flatbuffers::uoffset_t i = 0; signatures != nullptr && i < signatures->size(); ++i) {
    const schema::SignatureDef& signature = *signatures->Get(i);
    const std::string_view key = key_of(signature);
    if (list.size() < kLongestList)
      list += (list.empty() ? "" : ", ") + quoted_name(std::string(key.substr(0, kLongestList)));
    const bool is_default = wanted.empty() && (i == 0 || key == "serving_default");
    if (is_default || (!wanted.empty() && key == wanted)) chosen = &signature;
  }
  if (chosen == nullptr && !wanted.empty()) {
    throw Error(ErrorCode::not_found, "there is no signature " + quoted_name(std::string(wanted)) +
                                          (list.empty() ? "; the file has none" : "; the file has " + list));
  }
  return chosen;
}

// Returns the names of all signatures. The chosen one is first.
std::vector<std::string> signature_names(File& file, const schema::SignatureDef* chosen) {
  if (chosen == nullptr) return {};
  std::vector<std::string> names{std::string(key_of(*chosen))};
  for (const schema::SignatureDef* signature : *file.model.signature_defs()) {
    if (signature == chosen) continue;
    file.count(1 + key_of(*signature).size());
    names.emplace_back(key_of(*signature));
  }
  return names;
}

const schema::Model& verify(std::span<const std::byte> bytes) {
  if (bytes.size() > kLargestFlatbuffer) {
    refuse_unsupported("a TFLite model of 2 GiB or more is not supported");
  }
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  flatbuffers::Verifier verifier(data, bytes.size());
  if (!schema::VerifyModelBuffer(verifier)) refuse_model("not a TFLite model, damaged or truncated");
  const schema::Model& model = *schema::GetModel(data);
  if (model.version() != 3)
    refuse_unsupported("version " + std::to_string(model.version()) + " of the format");
  if (model.subgraphs() == nullptr || model.subgraphs()->size() == 0) refuse_model("there is no graph in it");
  return model;
}

Graph read_graph(std::span<const std::byte> bytes, std::string_view wanted) {
  const schema::Model& model = verify(bytes);
  const schema::SignatureDef* signature = choose_signature(model, wanted);
  File file(model, bytes);
  Graph graph = read_subgraph(file, signature == nullptr ? 0 : signature->subgraph_index(), signature);
  graph.signatures = signature_names(file, signature);
  return graph;
}

Graph read_named(std::span<const std::byte> bytes, std::string_view signature, const std::string& source) {
  try {
    return read_graph(bytes, signature);
  } catch (const Error& error) {
    throw Error(error.code(), source + ": " + error.what());
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory, source + ": not enough host memory");
  }
}

}  // namespace
}  // namespace tflite

Graph import_tflite(const std::filesystem::path& file, std::string_view signature) {
  check_model_file(file);
  std::ifstream stream(file, std::ios::binary | std::ios::ate);
  const auto size = stream ? static_cast<std::streamoff>(stream.tellg()) : std::streamoff{-1};
  if (size < 0) throw Error(ErrorCode::io, platform::to_utf8(file) + ": cannot be read");
  if (static_cast<uint64_t>(size) > tflite::kLargestFlatbuffer) {
    throw Error(ErrorCode::unsupported,
                platform::to_utf8(file) + ": a TFLite model of 2 GiB or more is not supported");
  }
  // Eight-byte words: the alignment that the format guarantees for its data.
  std::vector<uint64_t> words(static_cast<size_t>(size) / 8 + 1);
  stream.seekg(0);
  stream.read(reinterpret_cast<char*>(words.data()), size);
  if (!stream) throw Error(ErrorCode::io, platform::to_utf8(file) + ": cannot be read");
  return tflite::read_named(std::as_bytes(std::span(words)).first(static_cast<size_t>(size)), signature,
                            platform::to_utf8(file));
}

Graph import_tflite(std::span<const std::byte> bytes, std::string_view signature) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % 8 == 0)
    return tflite::read_named(bytes, signature, "model in memory");
  std::vector<uint64_t> words(bytes.size() / 8 + 1);
  std::copy(bytes.begin(), bytes.end(), std::as_writable_bytes(std::span(words)).begin());
  return tflite::read_named(std::as_bytes(std::span(words)).first(bytes.size()), signature,
                            "model in memory");
}

}  // namespace vellum
