// MATRIX_DIAG and MATRIX_SET_DIAG: values as LiteRT's reference kernels have them.
#include <gtest/gtest.h>

#include <cmath>

#include "import/import.hpp"
#include "import/run_tflite.hpp"
#include "support/errors.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"
#include "support/tflite_builder.hpp"

namespace vellum::test {
namespace {

// An infinity on the diagonal leaves zeros beside it.
TEST(TfliteDiagonal, MatricesOfDiagonals) {
  TfliteModel m;
  const auto x = m.tensor("x", {2, 3}), y = m.tensor("y", {2, 3, 3});
  m.op(113, {x}, {y});
  const auto got = run_tflite(m.finish({x}, {y}), {tensor({2, 3}, {1, INFINITY, 3, 4, 5, 6})});
  EXPECT_EQ(got[0].shape(), (Shape{2, 3, 3}));
  EXPECT_EQ(got[0].to_floats(),
            (std::vector<float>{1, 0, 0, 0, INFINITY, 0, 0, 0, 3, 4, 0, 0, 0, 5, 0, 0, 0, 6}));
}

TEST(TfliteDiagonal, DiagonalsOfWideAndTallMatrices) {
  const std::vector<std::pair<Shape, std::vector<int64_t>>> cases{
      {{2, 3}, {-1, 1, 2, 3, -2, 5}}, {{3, 2}, {-1, 1, 2, -2, 4, 5}}, {{2, 2}, {-1, 1, 2, -2}}};
  for (const auto& [shape, expected] : cases) {
    TfliteModel m;
    const std::vector<int32_t> dims(shape.begin(), shape.end());
    const auto x = m.tensor("x", dims, tfl::TensorType::int32),
               diagonal = m.tensor("diagonal", {2}, tfl::TensorType::int32),
               y = m.tensor("y", dims, tfl::TensorType::int32);
    m.op(115, {x, diagonal}, {y});
    std::vector<int64_t> elements;
    for (size_t i = 0; i < expected.size(); ++i) elements.push_back(static_cast<int64_t>(i));
    const auto got = run_tflite(m.finish({x, diagonal}, {y}),
                                {HostTensor::from<int64_t>(DType::i32, shape, elements),
                                 HostTensor::from<int64_t>(DType::i32, {2}, std::vector<int64_t>{-1, -2})});
    EXPECT_EQ(got[0].shape(), shape);
    EXPECT_EQ(got[0].to_ints(), expected) << to_string(shape);
  }
}

TEST(TfliteDiagonal, AnotherNumberOfElementsIsRefused) {
  TfliteModel m;
  const auto x = m.tensor("x", {2, 3}), diagonal = m.tensor("diagonal", {3}), y = m.tensor("y", {2, 3});
  m.op(115, {x, diagonal}, {y});
  EXPECT_VELLUM_ERROR(import_model(as_bytes(m.finish({x, diagonal}, {y}))), ErrorCode::corrupt_model,
                      "MATRIX_SET_DIAG", "diagonals");
}

}  // namespace
}  // namespace vellum::test
