#include <fstream>
#include <new>
#include <set>
#include <vector>

#include "import/import.hpp"
#include "import/model_file.hpp"
#include "import/tflite/dilation.hpp"
#include "import/tflite/tensors.hpp"
#include "platform/utf8_path.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace tflite {
namespace {

// Offsets in a flatbuffer are signed 32-bit numbers. Larger models store their weights after it.
constexpr uint64_t kLargestFlatbuffer = FLATBUFFERS_MAX_BUFFER_SIZE - 1;

// The first graph is the model. Others are those of further signatures, which are refused, and those that
// operators of control flow call, which no row of operators.def converts.
void check_signatures(const schema::Model& model) {
  const auto* signatures = model.signature_defs();
  if (signatures == nullptr || model.subgraphs()->size() == 1) return;
  std::string list;
  bool others = false;
  for (const schema::SignatureDef* signature : *signatures) {
    const auto* key = signature->signature_key();
    list += (list.empty() ? "" : ", ") + quoted_name(key == nullptr ? std::string() : key->str());
    if (signature->subgraph_index() != 0) others = true;
  }
  if (others) refuse_unsupported("a model of several graphs with signatures of their own (" + list + ")");
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
  check_signatures(model);
  return model;
}

struct OperatorType {
  std::string name;
  int version = 1;
  Convert convert = nullptr;
};

OperatorType operator_type(const schema::Model& model, const schema::Operator& op) {
  const auto* codes = model.operator_codes();
  if (codes == nullptr || op.opcode_index() >= codes->size()) {
    refuse_model("an operator of kind " + std::to_string(op.opcode_index()) +
                 ", which the file does not list");
  }
  const schema::OperatorCode& code = *codes->Get(op.opcode_index());
  constexpr int32_t kCustom = 32;
  const int32_t number = std::max<int32_t>(code.old_builtin_code(), code.builtin_code());
  OperatorType type;
  type.version = code.version();
  if (number == kCustom) {
    type.name = code.custom_code() == nullptr ? std::string() : code.custom_code()->str();
    type.convert = find_custom(type.name);
    type.name = "custom operator " + quoted_name(type.name);
  } else {
    type.convert = find_builtin(number, type.name);
  }
  return type;
}

using Operators = flatbuffers::Vector<flatbuffers::Offset<schema::Operator>>;

void refuse_unknown_operators(const schema::Model& model, const Operators& operators) {
  std::set<std::string> unknown;
  for (const schema::Operator* op : operators) {
    const OperatorType type = operator_type(model, *op);
    if (type.convert == nullptr) unknown.insert(type.name);
  }
  if (unknown.empty()) return;
  std::string list;
  for (const std::string& name : unknown) list += (list.empty() ? "" : ", ") + name;
  refuse_unsupported("these operators are not supported: " + list);
}

std::vector<int32_t> ids(const flatbuffers::Vector<int32_t>* list, const Writer& writer, bool optional) {
  std::vector<int32_t> result;
  for (flatbuffers::uoffset_t i = 0; list != nullptr && i < list->size(); ++i) {
    result.push_back(list->Get(i));
    if (!optional || result.back() != kLeftOut) writer.type(result.back());  // throws where there is none
  }
  return result;
}

void convert(const schema::Model& model, const schema::Operator& op, size_t index, Writer& writer,
             const DilatedConv* dilated) {
  const OperatorType type = operator_type(model, op);
  std::string what = type.name + " #" + std::to_string(index);
  try {
    Call call{writer,
              op,
              type.name,
              type.version,
              ids(op.inputs(), writer, true),
              ids(op.outputs(), writer, false)};
    if (dilated != nullptr) {
      call.dilation = &dilated->window;
      call.inputs[0] = dilated->input;
      call.outputs[0] = dilated->output;
    }
    if (!call.outputs.empty()) what += " producing " + quoted_name(writer.name_of(call.outputs[0]));
    type.convert(call);
    for (const int32_t id : ids(op.inputs(), writer, true))
      if (id != kLeftOut) writer.finished_reading(id);
  } catch (const Error& error) {
    throw Error(error.code(), what + ": " + error.what());
  }
}

Graph read_graph(std::span<const std::byte> bytes) {
  const schema::Model& model = verify(bytes);
  const auto* operators = model.subgraphs()->Get(0)->operators();
  if (operators == nullptr) refuse_model("the graph has no operators");
  refuse_unknown_operators(model, *operators);
  Writer writer(model, bytes);
  const DilatedConvs dilated = find_dilated_convs(model, writer);
  for (flatbuffers::uoffset_t i = 0; i < operators->size(); ++i) {
    if (dilated.absorbed.contains(i)) continue;
    const auto conv = dilated.convs.find(i);
    convert(model, *operators->Get(i), i, writer, conv == dilated.convs.end() ? nullptr : &conv->second);
  }
  return writer.finish();
}

Graph read_named(std::span<const std::byte> bytes, const std::string& source) {
  try {
    return read_graph(bytes);
  } catch (const Error& error) {
    throw Error(error.code(), source + ": " + error.what());
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory, source + ": not enough host memory");
  }
}

}  // namespace
}  // namespace tflite

Graph import_tflite(const std::filesystem::path& file) {
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
  return tflite::read_named(std::as_bytes(std::span(words)).first(static_cast<size_t>(size)),
                            platform::to_utf8(file));
}

Graph import_tflite(std::span<const std::byte> bytes) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % 8 == 0) return tflite::read_named(bytes, "model in memory");
  std::vector<uint64_t> words(bytes.size() / 8 + 1);
  std::copy(bytes.begin(), bytes.end(), std::as_writable_bytes(std::span(words)).begin());
  return tflite::read_named(std::as_bytes(std::span(words)).first(bytes.size()), "model in memory");
}

}  // namespace vellum
