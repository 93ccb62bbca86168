#include "import/other_formats.hpp"

#include <algorithm>
#include <iterator>

#include "vellum/error.hpp"

namespace vellum {
namespace {

constexpr const char* kPicture = "give the model's file here, and pictures as inputs";
constexpr const char* kWeights = "it has weights without a network; export the model to ONNX";
constexpr const char* kOtherEngine = "export the model that it was made from to ONNX or TFLite";
constexpr const char* kPyTorch = "export the model with torch.onnx.export()";
constexpr const char* kKeras = "convert the model with tf2onnx, or to TFLite";
constexpr const char* kUnpack = "unpack the model first";

// The first row that fits counts. No row fits an ONNX file, whose first byte is the tag of a field of
// ModelProto, nor a flatbuffer of TFLite, which is recognised before; other flatbuffers have their identifier
// after an offset below 2^24. Sources: the PNG, JFIF, RIFF, ZIP, HDF5 and GGUF specifications, safetensors'
// README, ncnn's wiki on the param and model file structure, Python's pickle protocols 2 to 5.
struct Signature {
  size_t offset;
  std::string_view bytes;
  const char* format;
  const char* remedy;
};
using namespace std::string_view_literals;
constexpr Signature kSignatures[] = {
    {0, "\x89PNG\r\n\x1a\n"sv, "a PNG picture", kPicture},
    {0, "\xff\xd8\xff"sv, "a JPEG picture", kPicture},
    {0, "GIF8"sv, "a GIF picture", kPicture},
    {0, "RIFF"sv, "a RIFF file, as WebP pictures are", kPicture},
    {0, "\x93NUMPY"sv, "a NumPy array", "give the model's file here, and arrays as inputs"},
    {0, "7767517\n"sv, "the .param file of an ncnn model", kOtherEngine},
    {0, "7767517\r\n"sv, "the .param file of an ncnn model", kOtherEngine},
    {0, "\x47\x6b\x30\x01"sv, "the .bin file of an ncnn model", kOtherEngine},
    {0, "\x38\x4b\x0d\0"sv, "the .bin file of an ncnn model", kOtherEngine},
    {0, "GGUF"sv, "a GGUF file", kWeights},
    {5, "\0\0\0{\""sv, "a safetensors file", kWeights},
    {0, "\x80\x02"sv, "a Python pickle, as old versions of PyTorch wrote", kPyTorch},
    {0, "\x80\x04\x95"sv, "a Python pickle", kPyTorch},
    {0, "\x89HDF\r\n\x1a\n"sv, "an HDF5 file, as Keras writes (.h5)", kKeras},
    {3, "\0ORTM"sv, "an ONNX Runtime model (.ort)", "give the ONNX file that it was made from"},
    {3, "\0ET12"sv, "an ExecuTorch program (.pte)", kOtherEngine},
    {0, "<?xml"sv, "an XML file, as OpenVINO has", kOtherEngine},
    {0, "<!DOCTYPE html"sv, "a web page", "the download of the model did not work"},
    {0, "<!doctype html"sv, "a web page", "the download of the model did not work"},
    {0, "<html"sv, "a web page", "the download of the model did not work"},
    {0, "version https://git-lfs"sv, "a pointer of Git LFS", "get the model itself with `git lfs pull`"},
    {0, "\x1f\x8b"sv, "a gzip archive", kUnpack},
    {0,
     "\xfd"
     "7zXZ\0"sv,
     "an xz archive", kUnpack},
    {0, "7z\xbc\xaf\x27\x1c"sv, "a 7z archive", kUnpack},
    {0, "\x28\xb5\x2f\xfd"sv, "a Zstandard archive", kUnpack},
};

bool fits(const Signature& row, std::string_view head) {
  return head.size() >= row.offset && head.substr(row.offset).starts_with(row.bytes);
}

// The contents of a zip archive, by the name of its first file, which follows its header of 30 bytes.
Signature zip_archive(std::string_view head) {
  const auto first_file_has = [&](std::string_view name) {
    return head.size() > 30 && head.substr(30).find(name) != std::string_view::npos;
  };
  if (first_file_has("data.pkl") || first_file_has(".format_version") || first_file_has("constants.pkl"))
    return {0, {}, "a PyTorch or TorchScript file (.pt, .pth)", kPyTorch};
  if (first_file_has("metadata.json") || first_file_has("config.json"))
    return {0, {}, "a Keras model (.keras)", kKeras};
  if (first_file_has(".npy")) return {0, {}, "an archive of NumPy arrays (.npz)", kWeights};
  return {
      0, {}, "a zip archive", "if it is a PyTorch or Keras model, export it to ONNX; else unpack it first"};
}

}  // namespace

void refuse_other_formats(std::string_view head, const std::string& source) {
  const auto refuse = [&](const Signature& found) {
    throw Error(ErrorCode::unsupported, source + ": " + found.format +
                                            ", not a model that Vellum reads (ONNX, TFLite or a bundle); " +
                                            found.remedy);
  };
  if (head.starts_with("PK\x03\x04")) refuse(zip_archive(head));
  const auto* const found =
      std::ranges::find_if(kSignatures, [&](const Signature& row) { return fits(row, head); });
  if (found != std::end(kSignatures)) refuse(*found);
}

}  // namespace vellum
