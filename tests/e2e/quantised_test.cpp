// Models of 8-bit integers: what Vellum computes from them in floating point, against LiteRT in floating
// point and in integers.
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
struct Steps {
  float largest = 0, mean = 0;
};

Steps difference(const Tensor& got, const Tensor& want) {
  const auto a = got.to_floats(), b = want.to_floats();
  Steps steps;
  for (size_t i = 0; i < a.size(); ++i) {
    steps.largest = std::max(steps.largest, std::abs(a[i] - b[i]));
    steps.mean += std::abs(a[i] - b[i]) / static_cast<float>(a.size());
  }
  return steps;
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
  std::map<std::string, Tensor> got, want;
  for (const auto& [name, integers] : outputs) {
    const Grid grid = grids.at(name);
    ASSERT_EQ(integers.dtype(), dtype) << name;
    got[name] = real(integers, grid);
    want[name] = which.output_of_integers(name);
    ASSERT_EQ(want[name].shape(), integers.shape()) << name;
    // Rounded once, at the end, from the same numbers. LiteRT in floating point does not clip them to the
    // ranges of the tensors between, which moves the few elements that depend on one beyond its range.
    const Steps from_floats = difference(integers, stored(which.output_of_floats(name), grid, dtype));
    EXPECT_LE(from_floats.largest, 3.0f) << name;
    EXPECT_LE(from_floats.mean, 0.1f) << name;
    // Rounded after every operator, LiteRT's integers stray.
    EXPECT_LE(difference(integers, stored(want[name], grid, dtype)).mean, 3.0f) << name;
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
