// Models of 8-bit integers against LiteRT in integers: bit for bit against its reference kernels, whose
// results are recorded here, and near to its default kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <tuple>

#include "e2e/decision.hpp"
#include "e2e/reference.hpp"

namespace vellum::test {
namespace {

using Grid = QuantisedModel::Grid;
using Choice = std::tuple<QuantisedModel, StorageChoice, Precision>;

DType type_of(const QuantisedModel& model) { return model.scheme == "int8" ? DType::i8 : DType::u8; }

// The integers of values in floating point.
Tensor stored(const Tensor& values, const Grid& grid, DType dtype) {
  const float low = dtype == DType::i8 ? -128.0f : 0.0f;
  Tensor result = values;
  for (float& value : result.mutable_as<float>())
    value = std::clamp(std::round(value / grid.scale) + static_cast<float>(grid.zero_point), low, low + 255);
  return cast(result, dtype);
}

Tensor real(const Tensor& integers, const Grid& grid) {
  Tensor result = cast(integers, DType::f32);
  for (float& value : result.mutable_as<float>())
    value = (value - static_cast<float>(grid.zero_point)) * grid.scale;
  return result;
}

// In steps of the grid.
struct Difference {
  float mean = 0.0f, largest = 0.0f;
};

Difference difference(const Tensor& got, const Tensor& want) {
  const auto a = got.to_floats(), b = want.to_floats();
  Difference found;
  for (size_t i = 0; i < a.size(); ++i) {
    const float steps = std::abs(a[i] - b[i]);
    found.mean += steps / static_cast<float>(a.size());
    found.largest = std::max(found.largest, steps);
  }
  return found;
}

// From LiteRT.js, whose default kernels round sums once and not in fixed point. Measured: 1.6 and 31.
constexpr Difference kMostToDefaultKernels{2.0f, 35.0f};

uint64_t digest(std::span<const std::byte> bytes) {
  uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const std::byte byte : bytes) hash = (hash ^ static_cast<uint64_t>(byte)) * 1099511628211u;
  return hash;
}

uint64_t digest_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return digest(std::as_bytes(std::span(bytes)));
}

uint64_t digest_of_integers(const Tensor& tensor) {
  std::vector<uint8_t> bytes;
  for (const int64_t integer : tensor.to_ints()) bytes.push_back(static_cast<uint8_t>(integer));
  return digest(std::as_bytes(std::span(bytes)));
}

// Digests of a file and of the outputs that ai-edge-litert 2.3.0 computes from the reference input by its
// reference kernels (Interpreter with OpResolverType.BUILTIN_REF).
struct Recorded {
  uint64_t model = 0;
  std::map<std::string, uint64_t> outputs;
};
const std::map<std::string, Recorded>& recorded() {
  static const std::map<std::string, Recorded> all{
      {"int8",
       {0x3ef3b5b352f99913, {{"regressors", 0x2b401fad80b5b578}, {"classificators", 0xabb7892102cc2a2f}}}},
      {"uint8",
       {0xd51dae51d90abefc, {{"regressors", 0xb8603fb66d631850}, {"classificators", 0x67f898aef879538d}}}}};
  return all;
}

class QuantisedModels : public testing::TestWithParam<Choice> {};

TEST_P(QuantisedModels, AgreeWithLiteRt) {
  const auto& [which, storage, precision] = GetParam();
  const Model model = Model::load(which.model());
  const DType dtype = type_of(which);
  const auto grids = which.grids();
  SessionOptions options;
  options.storage = storage;
  options.precision = precision;
  Session session(device(), model, options);
  EXPECT_TRUE(session.warnings().empty()) << session.warnings().front();
  const TensorInfo input = model.inputs().at(0);
  ASSERT_EQ(input.dtype, dtype);
  const auto outputs = session.run({{input.name, stored(which.input(), grids.at(input.name), dtype)}});
  const Recorded& reference = recorded().at(which.scheme);
  // LiteRT.js on this machine quantised the file, so that elsewhere it may be another one.
  const bool is_recorded = digest_of_file(which.model()) == reference.model;
  std::map<std::string, Tensor> got, want;
  for (const auto& [name, integers] : outputs) {
    const Grid grid = grids.at(name);
    ASSERT_EQ(integers.dtype(), dtype) << name;
    got[name] = real(integers, grid);
    want[name] = which.output_of_integers(name);
    ASSERT_EQ(want[name].shape(), integers.shape()) << name;
    const Difference found = difference(integers, stored(want[name], grid, dtype));
    EXPECT_LE(found.mean, kMostToDefaultKernels.mean) << name;
    EXPECT_LE(found.largest, kMostToDefaultKernels.largest) << name;
    if (is_recorded) {
      EXPECT_EQ(digest_of_integers(integers), reference.outputs.at(name)) << name;
    }
  }
  Decision decision = which.source.decision;
  decision.box_overlap = 0.8;  // a step of the regressions is more than a pixel, and faces are small
  EXPECT_EQ(differs(decision, got, want), "");
  expect_no_validation_messages();
}

std::string choice_name(const testing::TestParamInfo<Choice>& info) {
  const auto& [model, storage, precision] = info.param;
  return model.source.name + "_" + model.scheme +
         (storage == StorageChoice::buffer ? "_buffer" : "_image2d") +
         (precision == Precision::fp16 ? "_fp16" : "_fp32");
}

INSTANTIATE_TEST_SUITE_P(Schemes, QuantisedModels,
                         testing::Combine(testing::ValuesIn(quantised_models()),
                                          testing::Values(StorageChoice::image2d, StorageChoice::buffer),
                                          testing::Values(Precision::fp32, Precision::fp16)),
                         choice_name);

}  // namespace
}  // namespace vellum::test
