// Files that are given as models and are something else are named as what they are.
#include <gtest/gtest.h>
#include <vellum_onnx.pb.h>

#include <string>
#include <string_view>

#include "import/import.hpp"
#include "support/errors.hpp"
#include "support/onnx_builder.hpp"
#include "support/temp_folder.hpp"

namespace vellum::test {
namespace {

using namespace std::string_view_literals;

// A zip archive that begins with a file of this name.
std::string zip_of(const std::string& name) {
  return "PK\x03\x04" + std::string(26, '\0') + name + std::string(64, 'x');
}

TEST(OtherFormats, AreNamedAsWhatTheyAre) {
  struct Case {
    std::string begin;
    const char *is, *remedy;
  };
  const Case cases[] = {
      {"\x89PNG\r\n\x1a\n", "a PNG picture", "as inputs"},
      {"\xff\xd8\xff\xe0", "a JPEG picture", "as inputs"},
      {"7767517\n75 83\n", "the .param file of an ncnn model", "ONNX"},
      {std::string("\x47\x6b\x30\x01\0\0"sv), "the .bin file of an ncnn model", "ONNX"},
      {zip_of("resnet18/data.pkl"), "PyTorch or TorchScript", "torch.onnx.export()"},
      {zip_of("model/constants.pkl"), "PyTorch or TorchScript", "torch.onnx.export()"},
      {zip_of("metadata.json"), "a Keras model", "tf2onnx"},
      {zip_of("readme.txt"), "a zip archive", "unpack"},
      {"\x80\x02\x8a\x0al\xfc\x9c", "a Python pickle", "torch.onnx.export()"},
      {std::string("\x40\x1f\0\0\0\0\0\0{\"weight"sv), "a safetensors file", "without a network"},
      {"GGUF\x03", "a GGUF file", "without a network"},
      {"\x89HDF\r\n\x1a\n", "as Keras writes (.h5)", "tf2onnx"},
      {std::string("\x1c\0\0\0ORTM"sv), "ONNX Runtime model", "the ONNX file"},
      {std::string("\x1c\0\0\0ET12"sv), "ExecuTorch", "ONNX"},
      {"<!DOCTYPE html><html>", "a web page", "download"},
      {"version https://git-lfs.github.com/spec/v1\n", "Git LFS", "git lfs pull"},
      {"\x1f\x8b\x08", "a gzip archive", "unpack"},
  };
  const TempFolder folder;
  for (const Case& one : cases) {
    const std::string bytes = one.begin + std::string(300, ' ');
    EXPECT_VELLUM_ERROR(import_model(as_bytes(bytes)), ErrorCode::unsupported, "model in memory: ", one.is,
                        "ONNX, TFLite or a bundle", one.remedy);
    EXPECT_VELLUM_ERROR(import_model(folder.write("model.onnx", one.begin)), ErrorCode::unsupported,
                        "model.onnx: ", one.is, one.remedy);
  }
}

// Models that begin like one of these formats because of their names.
TEST(OtherFormats, AreNoOnnxModels) {
  for (const std::string producer : {"ORTModule", "ET12", "GGUF", "RIFF", "PK\x03\x04", ""}) {
    OnnxModel model;
    model.proto().set_producer_name(producer);
    model.input("x", {4}).node("Relu", {"x"}, {"y"}).output("y");
    const std::string bytes = model.bytes();
    EXPECT_NO_THROW(import_model(as_bytes(bytes))) << producer;
  }
}

}  // namespace
}  // namespace vellum::test
