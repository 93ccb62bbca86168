// NON_MAX_SUPPRESSION_V4 and V5, WHERE, and BROADCAST_ARGS: values computed by hand.
#include <gtest/gtest.h>

#include "import/import.hpp"
#include "import/run_tflite.hpp"
#include "support/errors.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"
#include "support/tflite_builder.hpp"

namespace vellum::test {
namespace {

using Numbers = std::vector<int64_t>;

// Box 1 overlaps box 0 by a half, box 3 box 2 by a quarter.
const HostTensor kFourBoxes = tensor({4, 4}, {0, 0, 2, 2, 0, 0, 2, 1, 3, 3, 4, 4, 3, 3, 4, 3.25f});
const HostTensor kFourScores = tensor({4}, {0.875f, 0.75f, 1, 0.125f});

// Keeps at most `most` boxes. Version 5 of the operator has `sigma`.
std::string suppression(int32_t most, float least_score, const float* sigma = nullptr) {
  TfliteModel m;
  const auto boxes = m.tensor("boxes", {4, 4}), scores = m.tensor("scores", {4});
  std::vector<int32_t> inputs{boxes, scores, m.constant<int32_t>("most", {}, {most}, tfl::TensorType::int32),
                              m.floats("overlap", {}, {0.5f}), m.floats("least", {}, {least_score})};
  std::vector<int32_t> outputs{m.tensor("kept", {most}, tfl::TensorType::int32)};
  if (sigma != nullptr) {
    inputs.push_back(m.floats("sigma", {}, {*sigma}));
    outputs.push_back(m.tensor("kept_scores", {most}));
  }
  outputs.push_back(m.tensor("count", {}, tfl::TensorType::int32));
  m.op(sigma == nullptr ? 120 : 121, inputs, outputs);
  return m.finish({boxes, scores}, outputs);
}

// A box that overlaps by the limit is suppressed, and one with the least score is not kept.
TEST(TfliteBoxes, ZerosFollowTheBoxesThatAreKept) {
  auto got = run_tflite(suppression(4, 0.0f), {kFourBoxes, kFourScores});
  EXPECT_EQ(got[0].to_ints(), (Numbers{2, 0, 3, 0}));
  EXPECT_EQ(got[1].to_ints(), (Numbers{3}));
  got = run_tflite(suppression(4, 0.125f), {kFourBoxes, kFourScores});
  EXPECT_EQ(got[0].to_ints(), (Numbers{2, 0, 0, 0}));
  EXPECT_EQ(got[1].to_ints(), (Numbers{2}));
  got = run_tflite(suppression(1, 0.0f), {kFourBoxes, kFourScores});
  EXPECT_EQ(got[0].to_ints(), (Numbers{2}));
  EXPECT_EQ(got[1].to_ints(), (Numbers{1}));
}

TEST(TfliteBoxes, ScoresOfTheBoxesThatAreKept) {
  const float none = 0.0f, some = 0.5f;
  const auto got = run_tflite(suppression(4, 0.0f, &none), {kFourBoxes, kFourScores});
  EXPECT_EQ(got[0].to_ints(), (Numbers{2, 0, 3, 0}));
  EXPECT_EQ(got[1].to_floats(), (std::vector<float>{1, 0.875f, 0.125f, 0}));
  EXPECT_EQ(got[2].to_ints(), (Numbers{3}));
  EXPECT_VELLUM_ERROR(import_model(as_bytes(suppression(4, 0.0f, &some))), ErrorCode::unsupported,
                      "NON_MAX_SUPPRESSION_V5", "sigma");
}

TEST(TfliteBoxes, PositionsOfWhatIsNotZero) {
  TfliteModel m;
  const auto x = m.tensor("x", {2, 3}), y = m.tensor("y", {0, 2}, tfl::TensorType::int64);
  m.op(109, {x}, {y});
  const auto got = run_tflite(m.finish({x}, {y}), {tensor({2, 3}, {0, 1, 0, 2, 0, -1})});
  EXPECT_EQ(got[0].shape(), (Shape{3, 2}));
  EXPECT_EQ(got[0].to_ints(), (Numbers{0, 1, 1, 0, 1, 2}));
}

// x, as large as it becomes beside y.
TEST(TfliteBoxes, ShapesThatAreBroadcast) {
  TfliteModel m;
  const auto x = m.tensor("x", {2, 1}), y = m.tensor("y", {3, 1, 2}), z = m.tensor("z", {3, 2, 2});
  const auto a = m.tensor("a", {2}, tfl::TensorType::int32), b = m.tensor("b", {3}, tfl::TensorType::int32),
             both = m.tensor("both", {3}, tfl::TensorType::int32);
  m.op(77, {x}, {a});
  m.op(77, {y}, {b});
  m.op(145, {a, b}, {both});
  m.op(130, {x, both}, {z});
  const auto got = run_tflite(m.finish({x, y}, {z}), {tensor({2, 1}, {5, 7}), counting({3, 1, 2})});
  EXPECT_EQ(got[0].shape(), (Shape{3, 2, 2}));
  EXPECT_EQ(got[0].to_floats(), (std::vector<float>{5, 5, 7, 7, 5, 5, 7, 7, 5, 5, 7, 7}));
}

}  // namespace
}  // namespace vellum::test
