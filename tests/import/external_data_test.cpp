// Weights beside the model: found, and never looked for outside its folder.
#include <gtest/gtest.h>
#include <vellum_onnx.pb.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "import/import.hpp"
#include "support/errors.hpp"
#include "support/onnx_builder.hpp"
#include "support/temp_folder.hpp"

namespace vellum::test {
namespace {

namespace fs = std::filesystem;
using Entries = std::vector<std::pair<std::string, std::string>>;

// A model whose output is some floats of external data.
OnnxModel model_with(const Entries& entries, int64_t elements = 2) {
  OnnxModel model;
  auto& tensor = *model.proto().mutable_graph()->add_initializer();
  tensor.set_name("w");
  tensor.set_data_type(onnx_schema::TensorProto::FLOAT);
  tensor.add_dims(elements);
  tensor.set_data_location(onnx_schema::TensorProto::EXTERNAL);
  for (const auto& [key, value] : entries) {
    auto& entry = *tensor.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  }
  model.output("w");
  return model;
}

std::string floats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

class ExternalData : public testing::Test {
 protected:
  ExternalData() {
    fs::create_directories(folder_ / "model/weights");
    folder_.write("model/weights/w.bin", floats({1, 2, 3, 4}));
    folder_.write("secret.bin", floats({6, 6}));
  }

  Graph import(const Entries& entries) const {
    model_with(entries).save(folder_ / "model/m.onnx");
    return import_model(folder_ / "model/m.onnx");
  }

  TempFolder folder_;
};

TEST_F(ExternalData, IsReadAtItsOffset) {
  const Graph graph = import({{"location", "weights/w.bin"}, {"offset", "4"}, {"length", "8"}});
  EXPECT_EQ(evaluate(graph, {})[0].to_floats(), (std::vector<float>{2, 3}));
}

TEST_F(ExternalData, OffsetAndLengthHaveDefaults) {
  EXPECT_EQ(evaluate(import({{"location", "weights/w.bin"}}), {})[0].to_floats(), (std::vector<float>{1, 2}));
}

// Large enough to be mapped, from a place that is no beginning of a page and may not suit floats.
TEST_F(ExternalData, LargeTensorsAreFoundWhereverTheyBegin) {
  std::vector<float> values(40000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  for (const size_t offset : {0u, 1u, 4u, 4096u, 9000u}) {
    folder_.write("model/large.bin", std::string(offset, 'x') + floats(values));
    model_with({{"location", "large.bin"}, {"offset", std::to_string(offset)}}, 40000)
        .save(folder_ / "model/m.onnx");
    const Graph graph = import_model(folder_ / "model/m.onnx");
    EXPECT_EQ(evaluate(graph, {})[0].to_floats(), values) << offset;
  }
}

TEST_F(ExternalData, ThatOfManyTensorsInOneSmallFileIsRefused) {
  constexpr int64_t kElements = 1 << 18;
  OnnxModel model = model_with({{"location", "megabyte.bin"}}, kElements);
  folder_.write("model/megabyte.bin", floats(std::vector<float>(kElements)));
  auto& tensors = *model.proto().mutable_graph()->mutable_initializer();
  for (int i = 0; i < 300; ++i) {
    auto& copy = *tensors.Add();
    copy = tensors[0];
    copy.set_name("copy" + std::to_string(i));
  }
  model.save(folder_ / "model/m.onnx");
  EXPECT_VELLUM_ERROR(import_model(folder_ / "model/m.onnx"), ErrorCode::unsupported, "'copy",
                      "many times the files");
  tensors.DeleteSubrange(3, tensors.size() - 3);  // which real models have
  model.save(folder_ / "model/m.onnx");
  EXPECT_EQ(import_model(folder_ / "model/m.onnx").outputs.size(), 1u);
}

TEST_F(ExternalData, OtherKeysAreIgnored) {
  const Graph graph = import({{"location", "weights/w.bin"}, {"checksum", "0123"}});
  EXPECT_EQ(evaluate(graph, {})[0].to_floats(), (std::vector<float>{1, 2}));
}

TEST_F(ExternalData, PathsOutOfTheFolderAreRefused) {
  for (const std::string& location : {std::string("../secret.bin"), std::string("weights/../../secret.bin"),
                                      (folder_ / "secret.bin").string(), std::string("weights/..")}) {
    EXPECT_VELLUM_ERROR(import({{"location", location}}), ErrorCode::corrupt_model, "m.onnx",
                        "initializer 'w'", "must");
  }
  EXPECT_VELLUM_ERROR(import({{"location", std::string("weights/w.bin\0x", 15)}}), ErrorCode::corrupt_model,
                      "zero byte");
}

TEST_F(ExternalData, LinksOutOfTheFolderAreRefused) {
  std::error_code error;
  fs::create_symlink(folder_ / "secret.bin", folder_ / "model/link.bin", error);
  if (error) GTEST_SKIP() << "no symbolic links here: " << error.message();
  fs::create_directory_symlink(folder_.path(), folder_ / "model/up");
  EXPECT_VELLUM_ERROR(import({{"location", "link.bin"}}), ErrorCode::corrupt_model, "'w'", "symbolic link");
  EXPECT_VELLUM_ERROR(import({{"location", "up/secret.bin"}}), ErrorCode::corrupt_model, "'w'",
                      "symbolic link");
}

// A model hub's cache: snapshots/1/m.onnx and its data are links into blobs.
class HubCache : public ExternalData {
 protected:
  void SetUp() override {
    fs::create_directories(folder_ / "hub/blobs");
    fs::create_directories(folder_ / "hub/snapshots/1/onnx");
    model_with({{"location", "m.onnx_data"}}).save(folder_ / "hub/blobs/aa");
    folder_.write("hub/blobs/bb", floats({1, 2}));
    std::error_code error;
    fs::create_symlink("../../../blobs/aa", model_, error);
    if (error) GTEST_SKIP() << "no symbolic links here: " << error.message();
    link("m.onnx_data", "../../../blobs/bb");
  }
  void link(const std::string& name, const fs::path& target) const {
    fs::remove(model_.parent_path() / name);
    fs::create_symlink(target, model_.parent_path() / name);
  }
  Graph import_within(const fs::path& folder) const {
    LoadLimits limits;
    limits.links_within = folder;
    return import_model(model_, limits);
  }
  const fs::path model_ = folder_ / "hub/snapshots/1/onnx/m.onnx";
};

TEST_F(HubCache, LinksAreRefusedUnlessAFolderIsNamed) {
  EXPECT_VELLUM_ERROR(import_model(model_), ErrorCode::corrupt_model, "symbolic link", "links_within");
  EXPECT_EQ(evaluate(import_within(folder_ / "hub"), {})[0].to_floats(), (std::vector<float>{1, 2}));
  EXPECT_EQ(evaluate(import_within(folder_ / "hub/blobs/."), {})[0].to_floats(), (std::vector<float>{1, 2}));
  // Named through a link, and with dots.
  fs::create_directory_symlink(folder_ / "hub", folder_ / "named");
  EXPECT_EQ(evaluate(import_within(folder_ / "named/snapshots/.."), {})[0].to_floats(),
            (std::vector<float>{1, 2}));
}

TEST_F(HubCache, LinksThatLeaveTheNamedFolderAreRefused) {
  fs::create_directories(folder_ / "hub-other");
  folder_.write("hub-other/w", floats({6, 6}));
  fs::create_symlink(folder_ / "secret.bin", folder_ / "hub/blobs/way-out");
  fs::create_directory_symlink(folder_.path(), folder_ / "hub/blobs/up");
  for (const fs::path& target :
       {folder_ / "secret.bin", folder_ / "hub-other/w", folder_ / "hub/blobs/way-out",
        folder_ / "hub/blobs/up/secret.bin", fs::path("../../../../secret.bin"),
        folder_ / "hub/blobs/../../secret.bin"}) {
    link("m.onnx_data", target);
    EXPECT_VELLUM_ERROR(import_within(folder_ / "hub"), ErrorCode::corrupt_model, "symbolic link") << target;
  }
  link("m.onnx_data", "../../../blobs");  // the folder itself
  EXPECT_VELLUM_ERROR(import_within(folder_ / "hub/blobs"), ErrorCode::corrupt_model, "must not leave");
  EXPECT_VELLUM_ERROR(import_within(folder_ / "hub"), ErrorCode::corrupt_model, "not a regular file");
  EXPECT_VELLUM_ERROR(import_within(folder_ / "absent"), ErrorCode::invalid_argument, "links_within",
                      "absent");
}

// The folder for links is for links alone: a path of the file must stay in the model's folder.
TEST_F(HubCache, PathsOutOfTheModelsFolderAreRefusedAllTheSame) {
  for (const std::string& location : {std::string("../../../blobs/bb"), (folder_ / "hub/blobs/bb").string(),
                                      std::string("../m.onnx_data")}) {
    model_with({{"location", location}}).save(folder_ / "hub/blobs/aa");
    EXPECT_VELLUM_ERROR(import_within(folder_ / "hub"), ErrorCode::corrupt_model, "must") << location;
  }
}

TEST_F(ExternalData, LinksInsideTheFolderAreFollowed) {
  std::error_code error;
  fs::create_symlink("weights/w.bin", folder_ / "model/link.bin", error);
  if (error) GTEST_SKIP() << "no symbolic links here: " << error.message();
  EXPECT_EQ(evaluate(import({{"location", "link.bin"}}), {})[0].to_floats(), (std::vector<float>{1, 2}));
}

TEST_F(ExternalData, MissingFilesAreNamed) {
  EXPECT_VELLUM_ERROR(import({{"location", "weights/gone.bin"}}), ErrorCode::not_found, "'w'",
                      "weights/gone.bin");
  EXPECT_VELLUM_ERROR(import({{"location", "weights"}}), ErrorCode::corrupt_model, "'w'",
                      "not a regular file");
  EXPECT_VELLUM_ERROR(import({{"offset", "0"}}), ErrorCode::corrupt_model, "'w'", "without a location");
}

TEST_F(ExternalData, RangesOutsideTheFileAreRefused) {
  const auto at = [&](const std::string& offset) {
    return import({{"location", "weights/w.bin"}, {"offset", offset}});
  };
  EXPECT_EQ(evaluate(at("8"), {})[0].to_floats(), (std::vector<float>{3, 4}));
  EXPECT_VELLUM_ERROR(at("12"), ErrorCode::corrupt_model, "'w'", "which has 16");
  EXPECT_VELLUM_ERROR(at("18446744073709551615"), ErrorCode::corrupt_model, "'w'", "which has 16");
  EXPECT_VELLUM_ERROR(at("18446744073709551616"), ErrorCode::corrupt_model, "'offset' is not a number");
  EXPECT_VELLUM_ERROR(at("-4"), ErrorCode::corrupt_model, "'offset' is not a number");
  EXPECT_VELLUM_ERROR(at("4x"), ErrorCode::corrupt_model, "'offset' is not a number");
  EXPECT_VELLUM_ERROR(import({{"location", "weights/w.bin"}, {"length", "4"}}), ErrorCode::corrupt_model,
                      "length 4", "need 8");
}

// Models of more than 2 GB have their weights beside them: files with holes, which take no space on the disk.
TEST_F(ExternalData, BeyondTwoGigabytesIsRead) {
  const uintmax_t offset = uintmax_t{5} << 30;
  const fs::path file = folder_ / "model/huge.bin";
  folder_.write("model/huge.bin", "");
  fs::resize_file(file, offset);
  std::ofstream(file, std::ios::binary | std::ios::app) << floats({7, 8});
  const Graph graph = import({{"location", "huge.bin"}, {"offset", std::to_string(offset)}});
  EXPECT_EQ(evaluate(graph, {})[0].to_floats(), (std::vector<float>{7, 8}));
}

TEST_F(ExternalData, AModelFileBeyondTwoGigabytesIsRefused) {
  const fs::path file = folder_ / "model/m.onnx";
  model_with({{"location", "weights/w.bin"}}).save(file);
  fs::resize_file(file, uintmax_t{3} << 30);
  EXPECT_VELLUM_ERROR(import_model(file), ErrorCode::unsupported, "m.onnx", "2 GiB", "external data");
  folder_.write("model/m.tflite", std::string("\x1c\0\0\0TFL3", 8));
  fs::resize_file(folder_ / "model/m.tflite", uintmax_t{3} << 30);
  EXPECT_VELLUM_ERROR(import_model(folder_ / "model/m.tflite"), ErrorCode::unsupported, "m.tflite", "2 GiB");
}

TEST_F(ExternalData, IsRefusedForModelsInMemory) {
  const std::string bytes = model_with({{"location", "weights/w.bin"}}).bytes();
  EXPECT_VELLUM_ERROR(import_model(as_bytes(bytes)), ErrorCode::unsupported, "'w'", "from its file");
  const Graph graph = import_onnx(as_bytes(bytes), folder_ / "model");
  EXPECT_EQ(evaluate(graph, {})[0].to_floats(), (std::vector<float>{1, 2}));
}

}  // namespace
}  // namespace vellum::test
