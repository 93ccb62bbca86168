// Models of 8-bit integers: what Vellum computes from them, in sums of floats that are rounded after every
// operator, against LiteRT in integers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
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

// Measured on lavapipe, in every storage and precision: 0.90 and 15 of the int8 file, whose many channels
// each have a scale, 0.0002 and 1 of the uint8 file.
Difference most_of(const QuantisedModel& model) {
  return model.scheme == "int8" ? Difference{1.0f, 18.0f} : Difference{0.001f, 1.0f};
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
  const Difference most = most_of(which);
  std::map<std::string, Tensor> got, want;
  for (const auto& [name, integers] : outputs) {
    const Grid grid = grids.at(name);
    ASSERT_EQ(integers.dtype(), dtype) << name;
    got[name] = real(integers, grid);
    want[name] = which.output_of_integers(name);
    ASSERT_EQ(want[name].shape(), integers.shape()) << name;
    const Difference found = difference(integers, stored(want[name], grid, dtype));
    EXPECT_LE(found.mean, most.mean) << name;
    EXPECT_LE(found.largest, most.largest) << name;
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
