// Bundles whose descriptions share parts of themselves, which no writer makes: a small file would take the
// memory, or the time, of a large one.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>

#include "pack/file.hpp"
#include "pack/graph.hpp"
#include "pack/schema.hpp"
#include "support/errors.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test {
namespace {

using flatbuffers::Offset;
namespace schema = packfile::schema;

constexpr size_t kDataBytes = 256;

class BundleSharing : public testing::Test {
 protected:
  // The data section is of zeros.
  std::string bundle(Offset<schema::Model> model) {
    builder.Finish(model, schema::ModelIdentifier());
    const std::string text(reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize());
    packfile::Header header;
    header.description_bytes = text.size();
    header.data_offset = (sizeof header + text.size() + packfile::kAlignment - 1) / packfile::kAlignment *
                         packfile::kAlignment;
    header.data_bytes = kDataBytes;
    header.description = platform::fingerprint(std::as_bytes(std::span(text)));
    std::string bytes(static_cast<size_t>(header.data_offset) + kDataBytes, '\0');
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + sizeof header, text.data(), text.size());
    return bytes;
  }

  Graph read(Offset<schema::Model> model) {
    return packfile::read_graph(std::make_shared<const packfile::File>(as_bytes(bundle(model))), {});
  }

  static schema::Bytes blob(uint64_t offset, uint64_t size) {
    const std::string zeros(static_cast<size_t>(size), '\0');
    const platform::Fingerprint print = platform::fingerprint(std::as_bytes(std::span(zeros)));
    return {offset, size, print.low, print.high};
  }

  Offset<schema::Weight> weight(const char* name, uint64_t offset, uint64_t size) {
    const schema::Bytes bytes = blob(offset, size);
    return schema::CreateWeightDirect(builder, name, &bytes);
  }

  Offset<schema::Graph> relu(const std::vector<Offset<schema::Value>>& more = {}) {
    std::vector<Offset<schema::Value>> values;
    const std::vector<int64_t> shape{4};
    for (const char* name : {"x", "y"})
      values.push_back(schema::CreateValueDirect(builder, name, 0, &shape, true));
    values.insert(values.end(), more.begin(), more.end());
    const std::vector<uint32_t> in{0}, out{1};
    const std::vector<Offset<schema::Node>> nodes{
        schema::CreateNodeDirect(builder, "n", "Relu", 17, &in, &out)};
    return schema::CreateGraphDirect(builder, "g", &values, &nodes, &in, &out);
  }

  flatbuffers::FlatBufferBuilder builder;
};

TEST_F(BundleSharing, BlobsThatOverlapAreRefused) {
  const std::vector<Offset<schema::Weight>> weights{weight("a", 0, 128), weight("same", 0, 128),
                                                    weight("b", 128, 64), weight("c", 64, 128)};
  const auto model = schema::CreateModelDirect(builder, relu(), nullptr, "", nullptr, &weights);
  const std::string bytes = bundle(model);
  const packfile::File file(as_bytes(bytes));
  for (const char* name : {"a", "b", "same"}) EXPECT_FALSE(file.weight(name).empty());
  EXPECT_VELLUM_ERROR(file.weight("c"), ErrorCode::corrupt_model, "'c'", "overlaps");
}

TEST_F(BundleSharing, GoodOnesAreRead) {
  EXPECT_EQ(read(schema::CreateModel(builder, relu())).nodes.size(), 1u);
}

TEST_F(BundleSharing, ManyValuesOfOneTextAreRefused) {
  const auto text = builder.CreateString(std::string(1000, 'v'));
  std::vector<Offset<schema::Value>> values;
  for (int i = 0; i < 100; ++i) values.push_back(schema::CreateValue(builder, text));
  EXPECT_VELLUM_ERROR(read(schema::CreateModel(builder, relu(values))), ErrorCode::corrupt_model,
                      "again and again");
}

TEST_F(BundleSharing, ManyValuesOfOneTableAreRefused) {
  const std::vector<Offset<schema::Value>> values(1000, schema::CreateValueDirect(builder, "v"));
  EXPECT_VELLUM_ERROR(read(schema::CreateModel(builder, relu(values))), ErrorCode::corrupt_model,
                      "description is damaged");
}

// The activations of a recurrent layer, and a list that many attributes share.
TEST_F(BundleSharing, ListsOfTextsAreReadAndCounted) {
  using List = Offset<flatbuffers::Vector<uint32_t>>;
  const auto layer = [&](List texts, size_t times) {
    std::vector<Offset<schema::Attribute>> attributes;
    for (size_t i = 0; i < times; ++i) {
      const auto name = builder.CreateString("activations");
      schema::AttributeBuilder attribute(builder);
      attribute.add_name(name);
      attribute.add_kind(5);
      attribute.add_texts(texts);
      attributes.push_back(attribute.Finish());
    }
    const std::vector<uint32_t> input{0}, three{0, 0, 0}, output{1};
    const std::vector<int64_t> shape{4, 4, 4};
    std::vector<Offset<schema::Value>> values;
    for (const char* name : {"x", "y"})
      values.push_back(schema::CreateValueDirect(builder, name, 0, &shape, true));
    const std::vector<Offset<schema::Node>> nodes{
        schema::CreateNodeDirect(builder, "n", "GRU", 17, &three, &output, &attributes)};
    const auto graph = schema::CreateGraphDirect(builder, "g", &values, &nodes, &input, &output);
    const auto clear = [&](auto*) { builder.Clear(); };
    const std::unique_ptr<flatbuffers::FlatBufferBuilder, decltype(clear)> after(&builder, clear);
    return read(schema::CreateModel(builder, graph));
  };
  const auto list = [&](const std::vector<std::string>& texts) {
    return List(builder.CreateVectorOfStrings(texts).o);
  };
  EXPECT_EQ(layer(list({"Sigmoid", "Tanh"}), 1).nodes.size(), 1u);
  EXPECT_VELLUM_ERROR(layer(list({"Sigmoid", "Strange"}), 1), ErrorCode::unsupported, "Strange");
  EXPECT_VELLUM_ERROR(layer(list(std::vector<std::string>(1000, "Sigmoid")), 10), ErrorCode::corrupt_model,
                      "again and again");
  EXPECT_VELLUM_ERROR(layer(builder.CreateVector(std::vector<uint32_t>{4, 1u << 31}), 1),
                      ErrorCode::corrupt_model, "outside");
}

TEST_F(BundleSharing, ManyWeightsOfOneNameAreRefused) {
  const auto name = builder.CreateString(std::string(1000, 'w'));
  const schema::Bytes bytes = blob(0, 0);
  std::vector<Offset<schema::Weight>> weights;
  for (int i = 0; i < 100; ++i) weights.push_back(schema::CreateWeight(builder, name, &bytes));
  const auto model = schema::CreateModelDirect(builder, relu(), nullptr, "", nullptr, &weights);
  EXPECT_VELLUM_ERROR(read(model), ErrorCode::corrupt_model, "share a name");
}

}  // namespace
}  // namespace vellum::test
