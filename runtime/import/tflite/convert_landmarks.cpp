// MediaPipe's custom operators for attention to a region of landmarks. Their options are FlexBuffers
// (https://flatbuffers.dev/flexbuffers/): a map from names to values.
// Numbers in strings are not read here; they would need FlatBuffers' library.
#define FLATBUFFERS_LOCALE_INDEPENDENT 0
#include <flatbuffers/flexbuffers.h>

#include <cmath>
#include <vector>

#include "graph/operators/movement/landmarks.hpp"
#include "import/tflite/call.hpp"

namespace vellum::tflite {
namespace {

constexpr int64_t kLargestCrop = 1 << 14;

void require_version_2(const Call& call) {
  if (call.version != 2) {
    refuse_unsupported("version " + std::to_string(call.version) + " of it; Vellum knows version 2");
  }
}

class Options {
 public:
  explicit Options(const Call& call) {
    // A copy, because the verifier needs an alignment that the file does not guarantee.
    if (const auto* bytes = call.op.custom_options()) bytes_.assign(bytes->begin(), bytes->end());
    // FlexBuffers end in the root's type and width.
    constexpr size_t kLongest = 1 << 16;
    std::vector<uint8_t> seen;  // without it the verifier reads what is shared once for each reference
    if (bytes_.size() < 3 || bytes_.size() > kLongest ||
        !flexbuffers::VerifyBuffer(bytes_.data(), bytes_.size(), &seen)) {
      refuse_model("its options are missing or damaged");
    }
    const auto root = flexbuffers::GetRoot(bytes_.data(), bytes_.size());
    if (!root.IsMap()) refuse_model("its options are no map");
    map_ = root.AsMap();
  }

  int64_t integer(const char* name) const {
    const auto value = map_[name];
    if (!value.IsIntOrUint()) refuse_model("option " + std::string(name) + " is missing or no integer");
    return value.AsInt64();
  }
  int64_t size(const char* name) const {
    const int64_t value = integer(name);
    if (value < 1 || value > kLargestCrop) {
      refuse_model("option " + std::string(name) + " is " + std::to_string(value));
    }
    return value;
  }
  float number(const char* name) const {
    const auto value = map_[name];
    if (!value.IsNumeric() || !std::isfinite(value.AsFloat())) {
      refuse_model("option " + std::string(name) + " is missing or no finite number");
    }
    return value.AsFloat();
  }
  Ints integers(const char* name) const {
    const auto value = map_[name];
    const auto type = value.GetType();
    if (type != flexbuffers::FBT_VECTOR_INT && type != flexbuffers::FBT_VECTOR_UINT) {
      refuse_model("option " + std::string(name) + " is missing or no list of integers");
    }
    const auto list = value.AsTypedVector();
    Ints result;
    for (size_t i = 0; i < list.size(); ++i) result.push_back(list[i].AsInt64());
    return result;
  }

 private:
  std::vector<uint8_t> bytes_;
  flexbuffers::Map map_ = flexbuffers::Map::EmptyMap();
};

float positive_scale(const Options& options, const char* name) {
  const float value = options.number(name);
  if (value <= 0.0f) refuse_model("option " + std::string(name) + " is " + std::to_string(value));
  return value;
}

}  // namespace

void convert_landmarks_to_matrix(const Call& call) {
  require_version_2(call);
  const Options options(call);
  auto op = std::make_shared<LandmarksToMatrix>();
  op->left = options.integer("left_rotation_idx");
  op->right = options.integer("right_rotation_idx");
  op->subset = options.integers("subset_idxs");
  op->width = options.size("output_width");
  op->height = options.size("output_height");
  op->scale_x = positive_scale(options, "scale_x");
  op->scale_y = positive_scale(options, "scale_y");
  op->target_rotation = options.number("target_rotation_radians");
  call.emit(std::move(op), {call.writer.in_file_order(call.input(0))}, false);
}

void convert_transform_tensor(const Call& call) {
  require_version_2(call);
  const Options options(call);
  auto op = std::make_shared<TransformTensorBilinear>();
  op->width = options.size("output_width");
  op->height = options.size("output_height");
  call.emit(std::move(op), {call.writer.as_image(call.input(0)), call.writer.in_file_order(call.input(1))},
            true);
}

void convert_transform_landmarks(const Call& call) {
  require_version_2(call);
  // Version 2 has no options: the last dimension is the number of coordinates of a landmark.
  call.emit(std::make_shared<TransformLandmarks>(),
            {call.writer.in_file_order(call.input(0)), call.writer.in_file_order(call.input(1))}, false);
}

}  // namespace vellum::tflite
