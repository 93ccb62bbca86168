#include "pack/write.hpp"

#include <new>

#include "graph/operators/control/subgraphs.hpp"
#include "pack/file.hpp"
#include "pack/schema.hpp"
#include "vellum/error.hpp"

namespace vellum::packfile {
namespace {

using flatbuffers::Offset;

// The blobs of the data section, in the order of the file. The caller owns the bytes.
class Data {
 public:
  schema::Bytes add(std::span<const std::byte> bytes) {
    const uint64_t offset = size_;
    const platform::Fingerprint print = platform::fingerprint(bytes);
    if (!bytes.empty()) append(bytes);
    pad(pieces_, size_);
    return schema::Bytes(offset, bytes.size(), print.low, print.high);
  }

  // Adds zeros up to the next multiple of kAlignment.
  static void pad(std::vector<std::span<const std::byte>>& pieces, uint64_t& size) {
    static constexpr std::array<std::byte, kAlignment> kZeros{};
    const uint64_t missing = (kAlignment - size % kAlignment) % kAlignment;
    if (missing > 0) pieces.push_back(std::span(kZeros).first(static_cast<size_t>(missing)));
    size += missing;
  }

  uint64_t size() const { return size_; }
  const std::vector<std::span<const std::byte>>& pieces() const { return pieces_; }

 private:
  void append(std::span<const std::byte> bytes) {
    pieces_.push_back(bytes);
    size_ += bytes.size();
  }

  std::vector<std::span<const std::byte>> pieces_;
  uint64_t size_ = 0;
};

class Encoder {
 public:
  Offset<schema::Model> model(const Contents& contents) {
    Offset<schema::Graph> graph;
    schema::Bytes tflite;
    if (contents.graph)
      graph = encode(*contents.graph, *contents.record);
    else
      tflite = data.add(contents.tflite);
    std::vector<Offset<schema::Shader>> shaders;
    for (const auto& [digest, words] : contents.shaders) {
      const auto name = builder.CreateVector(digest.data(), digest.size());
      const schema::Bytes bytes = data.add(std::as_bytes(std::span(words)));
      shaders.push_back(schema::CreateShader(builder, name, &bytes));
    }
    std::vector<Offset<schema::Weight>> weights;
    for (const auto& [key, packed] : contents.weights) {
      const auto name = builder.CreateString(key);
      const schema::Bytes bytes = data.add(packed);
      weights.push_back(schema::CreateWeight(builder, name, &bytes));
    }
    const auto made_for = builder.CreateString(contents.made_for);
    const auto caps = builder.CreateString(contents.caps);
    const auto signature = builder.CreateString(contents.signature);
    const auto shader_list = builder.CreateVector(shaders);
    const auto weight_list = builder.CreateVector(weights);
    return schema::CreateModel(builder, graph, contents.graph ? nullptr : &tflite, made_for, shader_list,
                               weight_list, caps, signature);
  }

  flatbuffers::FlatBufferBuilder builder;
  Data data;

 private:
  Offset<schema::Tensor> encode(const HostTensor& tensor) {
    const schema::Bytes bytes = data.add({tensor.data(), tensor.byte_size()});
    const auto shape = builder.CreateVector(tensor.shape());
    return schema::CreateTensor(builder, static_cast<uint8_t>(tensor.dtype()), shape, &bytes);
  }

  Offset<schema::Attribute> encode(const std::string& name, const Attributes::Value& value) {
    const auto key = builder.CreateString(name);
    Offset<flatbuffers::String> text;
    Offset<flatbuffers::Vector<int64_t>> integers;
    Offset<flatbuffers::Vector<float>> numbers;
    Offset<flatbuffers::Vector<uint32_t>> texts;
    Offset<schema::Tensor> tensor;
    if (const auto* string = std::get_if<std::string>(&value)) text = builder.CreateString(*string);
    if (const auto* ints = std::get_if<Attributes::Ints>(&value)) integers = builder.CreateVector(*ints);
    if (const auto* floats = std::get_if<Attributes::Floats>(&value)) numbers = builder.CreateVector(*floats);
    if (const auto* strings = std::get_if<Attributes::Strings>(&value))
      texts = builder.CreateVectorOfStrings(*strings).o;
    if (const auto* held = std::get_if<HostTensor>(&value)) tensor = encode(*held);
    const auto* integer = std::get_if<int64_t>(&value);
    const auto* number = std::get_if<float>(&value);
    return schema::CreateAttribute(builder, key, static_cast<uint8_t>(value.index()), integer ? *integer : 0,
                                   number ? *number : 0.0f, text, integers, numbers, texts, tensor);
  }

  Offset<schema::Value> encode(const Value& value) {
    const auto name = builder.CreateString(value.name);
    const auto shape = builder.CreateVector(value.type.shape);
    Offset<schema::Tensor> constant;
    if (value.constant) constant = encode(*value.constant);
    return schema::CreateValue(builder, name, static_cast<uint8_t>(value.type.dtype), shape, value.type_known,
                               constant);
  }

  Offset<schema::Node> encode(const Node& node, const NodeRecord& record) {
    std::vector<Offset<schema::Attribute>> attributes;
    for (const auto& [name, value] : record.attributes.values()) attributes.push_back(encode(name, value));
    std::vector<Offset<schema::Graph>> branches;
    if (const auto* op = dynamic_cast<const GraphOperator*>(node.op.get())) {
      const std::vector<const Graph*> graphs = op->graphs();
      for (size_t i = 0; i < graphs.size(); ++i)
        branches.push_back(encode(*graphs[i], record.branches.at(i)));
    }
    const auto name = builder.CreateString(node.name), type = builder.CreateString(record.type);
    const auto inputs = builder.CreateVector(node.inputs), outputs = builder.CreateVector(node.outputs);
    const auto attribute_list = builder.CreateVector(attributes);
    const auto branch_list = builder.CreateVector(branches);
    return schema::CreateNode(builder, name, type, record.opset, inputs, outputs, attribute_list,
                              branch_list);
  }

  Offset<schema::Graph> encode(const Graph& graph, const GraphRecord& record) {
    std::vector<Offset<schema::Value>> values;
    for (const Value& value : graph.values) values.push_back(encode(value));
    std::vector<Offset<schema::Node>> nodes;
    for (size_t i = 0; i < graph.nodes.size(); ++i) nodes.push_back(encode(graph.nodes[i], record.at(i)));
    const auto name = builder.CreateString(graph.name);
    const auto value_list = builder.CreateVector(values);
    const auto node_list = builder.CreateVector(nodes);
    const auto inputs = builder.CreateVector(graph.inputs), outputs = builder.CreateVector(graph.outputs);
    return schema::CreateGraph(builder, name, value_list, node_list, inputs, outputs);
  }
};

}  // namespace

uint64_t write(const Contents& contents, const TakePieces& take) {
  Encoder encoder;
  encoder.builder.Finish(encoder.model(contents), schema::ModelIdentifier());
  const std::span<const std::byte> description(
      reinterpret_cast<const std::byte*>(encoder.builder.GetBufferPointer()), encoder.builder.GetSize());
  Header header;
  if (!contents.signature.empty()) header.version = Header::kVersion;
  header.description_bytes = description.size();
  header.description = platform::fingerprint(description);
  std::vector<std::span<const std::byte>> pieces{std::as_bytes(std::span(&header, 1)), description};
  uint64_t size = sizeof header + description.size();
  Data::pad(pieces, size);
  header.data_offset = size;
  header.data_bytes = encoder.data.size();
  pieces.insert(pieces.end(), encoder.data.pieces().begin(), encoder.data.pieces().end());
  take(pieces);
  return header.data_offset + header.data_bytes;
}

}  // namespace vellum::packfile
