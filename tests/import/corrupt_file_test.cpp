// Files that are no models, or damaged ones: one clear error, or a graph that is sound; never a crash.
#include <gtest/gtest.h>
#include <vellum_onnx.pb.h>

#include <filesystem>
#include <random>
#include <string>

#include "import/import.hpp"
#include "support/errors.hpp"
#include "support/onnx_builder.hpp"
#include "support/temp_folder.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

namespace fs = std::filesystem;

// A model with something of everything the reader knows.
std::string sample_model() {
  OnnxModel model;
  model.input("x", {kUnknownDim, 2, 5, 5})
      .initializer("w", random_tensor({3, 2, 3, 3}, 1))
      .initializer("scale", random_tensor({3, 1, 1}, 2))
      .node("Conv", {"x", "w"}, {"c"},
            attributes({{"kernel_shape", Attributes::Ints{3, 3}},
                        {"pads", Attributes::Ints{1, 1, 1, 1}},
                        {"auto_pad", std::string("NOTSET")}}),
            "conv")
      .node("Constant", {}, {"low"}, attributes({{"value", HostTensor::f32({}, std::vector<float>{0.0f})}}))
      .node("Clip", {"c", "low", ""}, {"r"}, {}, "clip")
      .node("MaxPool", {"r"}, {"p"}, attributes({{"kernel_shape", Attributes::Ints{2, 2}}}), "pool")
      .node("Mul", {"p", "scale"}, {"f"}, {}, "scale")
      .node("LeakyRelu", {"f"}, {"y"}, attributes({{"alpha", 0.25f}}), "leaky")
      .output("y");
  auto& typed = *model.proto().mutable_graph()->add_initializer();
  typed.set_name("typed");
  typed.set_data_type(onnx_schema::TensorProto::FLOAT);
  typed.add_dims(2);
  typed.add_float_data(1.0f);
  typed.add_float_data(2.0f);
  return model.bytes();
}

// Imported and sound, or refused with an Error; anything else fails the test or brings it down.
void import_or_refuse(const std::string& bytes, size_t& imported, size_t& refused) {
  try {
    check(import_model(as_bytes(bytes)));
    ++imported;
  } catch (const Error& error) {
    EXPECT_STRNE(error.what(), "");
    EXPECT_NE(error.code(), ErrorCode::internal) << error.what();
    ++refused;
  }
}

TEST(CorruptFile, EveryTruncationIsRefusedOrSound) {
  const std::string whole = sample_model();
  size_t imported = 0, refused = 0;
  for (size_t length = 0; length < whole.size(); ++length)
    import_or_refuse(whole.substr(0, length), imported, refused);
  EXPECT_GT(refused, whole.size() * 9 / 10);
  import_or_refuse(whole, imported, refused);
  EXPECT_GE(imported, 1u);
}

TEST(CorruptFile, FlippedBytesAreRefusedOrSound) {
  const uint32_t seed = 20200110;
  RecordProperty("seed", static_cast<int>(seed));
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const std::string whole = sample_model();
  size_t imported = 0, refused = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string damaged = whole;
    for (auto flips = 1 + random() % 4; flips > 0; --flips) {
      damaged[random() % damaged.size()] = static_cast<char>(random() & 0xff);
    }
    import_or_refuse(damaged, imported, refused);
  }
  // Most bytes are weights, so both happen often.
  EXPECT_GT(imported, 100u);
  EXPECT_GT(refused, 100u);
}

TEST(CorruptFile, BytesOfNoModelAreRefused) {
  std::mt19937 random(7);
  size_t imported = 0, refused = 0;
  for (int round = 0; round < 500; ++round) {
    std::string noise(random() % 300, '\0');
    for (char& byte : noise) byte = static_cast<char>(random() & 0xff);
    import_or_refuse(noise, imported, refused);
  }
  EXPECT_EQ(imported, 0u);
}

TEST(CorruptFile, MissingAndEmptyFilesAreNamed) {
  const TempFolder folder;
  EXPECT_VELLUM_ERROR(import_model(folder / "gone.onnx"), ErrorCode::not_found, "gone.onnx", "no such file");
  EXPECT_VELLUM_ERROR(import_model(folder.write("empty.onnx", "")), ErrorCode::corrupt_model, "empty.onnx",
                      "empty");
  EXPECT_VELLUM_ERROR(import_model(folder.path()), ErrorCode::io, folder.path().string());
  EXPECT_VELLUM_ERROR(import_model(folder.write("text.onnx", "a text, not a model")),
                      ErrorCode::corrupt_model, "text.onnx", "not an ONNX model");
  const std::string bytes = sample_model();
  EXPECT_VELLUM_ERROR(import_model(folder.write("cut.onnx", bytes.substr(0, bytes.size() / 2))),
                      ErrorCode::corrupt_model, "cut.onnx", "truncated");
}

TEST(CorruptFile, OtherFormatsAreTold) {
  const TempFolder folder;
  const std::string tflite("\x1c\0\0\0TFL3....", 12);
  EXPECT_VELLUM_ERROR(import_model(folder.write("m.tflite", tflite)), ErrorCode::corrupt_model, "m.tflite",
                      "TFLite");
  EXPECT_VELLUM_ERROR(import_model(as_bytes(tflite)), ErrorCode::corrupt_model, "TFLite");
  EXPECT_VELLUM_ERROR(import_model(folder.write("m.pt", "PK\x03\x04")), ErrorCode::unsupported, "m.pt",
                      "zip");
}

// A field of a message: its number and length, and the bytes.
std::string field(int number, const std::string& bytes) {
  std::string text(1, static_cast<char>(number << 3 | 2));
  for (size_t rest = bytes.size();; rest >>= 7) {
    text += static_cast<char>((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    if (rest <= 0x7f) return text + bytes;
  }
}

std::string repeated(int number, size_t times) {
  std::string text;
  for (size_t i = 0; i < times; ++i) text += field(number, "");
  return text;
}

// Two bytes of the file would become hundreds in memory.
TEST(CorruptFile, MillionsOfEmptyMessagesAreRefusedUnparsed) {
  constexpr size_t kMany = (1 << 22) + 1;
  enum : int { kNode = 1, kInput = 1, kInitializer = 5, kAttribute = 5, kGraphOfAttribute = 6, kGraph = 7 };
  const std::string nodes = repeated(kNode, kMany);
  for (const std::string& graph :
       {nodes, repeated(kInitializer, kMany), field(kNode, repeated(kInput, kMany)),
        field(kNode, field(kAttribute, field(kGraphOfAttribute, nodes)))}) {
    const std::string bytes = field(kGraph, graph);
    EXPECT_VELLUM_ERROR(import_onnx(as_bytes(bytes)), ErrorCode::unsupported, "nodes, tensors",
                        "the most that are read");
  }
}

TEST(CorruptFile, FilesTooLargeForProtobufAreRefusedUnread) {
  const TempFolder folder;
  const fs::path file = folder.write("large.onnx", sample_model());
  std::error_code error;
  fs::resize_file(file, uint64_t{1} << 31, error);  // sparse
  if (error) GTEST_SKIP() << "no room for a sparse file: " << error.message();
  EXPECT_VELLUM_ERROR(import_model(file), ErrorCode::unsupported, "large.onnx", "2 GiB", "external data");
}

}  // namespace
}  // namespace vellum::test
