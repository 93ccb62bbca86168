// UNSORTED_SEGMENT_SUM, PROD, MAX and MIN: values computed by hand.
#include <gtest/gtest.h>

#include <limits>

#include "import/import.hpp"
#include "import/run_tflite.hpp"
#include "support/errors.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"
#include "support/tflite_builder.hpp"

namespace vellum::test {
namespace {

using Segments = std::vector<int32_t>;

std::string unsorted(int32_t op, const Segments* known) {
  TfliteModel m;
  const auto x = m.tensor("x", {4, 2}), y = m.tensor("y", {3, 2});
  const auto ids = known ? m.ints("ids", *known) : m.tensor("ids", {4}, tfl::TensorType::int32);
  m.op(op, {x, ids, m.constant<int32_t>("number", {}, {3}, tfl::TensorType::int32)}, {y});
  return known ? m.finish({x}, {y}) : m.finish({x, ids}, {y});
}

// Slice 1 has a negative segment, and no slice has segment 1.
TEST(TfliteSegments, ReductionsInAnyOrder) {
  const HostTensor x = tensor({4, 2}, {2, 3, 100, 200, -5, 7, 4, -1});
  const Segments ids{2, -1, 0, 2};
  const float least = std::numeric_limits<float>::lowest(), most = std::numeric_limits<float>::max();
  const std::vector<std::pair<int32_t, std::vector<float>>> cases{{155, {-5, 7, 0, 0, 6, 2}},
                                                                  {153, {-5, 7, 1, 1, 8, -3}},
                                                                  {154, {-5, 7, least, least, 4, 3}},
                                                                  {157, {-5, 7, most, most, 2, -1}}};
  for (const auto& [op, expected] : cases) {
    EXPECT_EQ(run_tflite(unsorted(op, &ids), {x})[0].to_floats(), expected) << op;
    const HostTensor given = HostTensor::from<int64_t>(DType::i32, {4}, std::vector<int64_t>{2, -1, 0, 2});
    EXPECT_EQ(run_tflite(unsorted(op, nullptr), {x, given})[0].to_floats(), expected) << op;
  }
}

TEST(TfliteSegments, SegmentsBeyondTheirNumberAreRefused) {
  const Segments ids{0, 1, 2, 3};
  EXPECT_VELLUM_ERROR(import_model(as_bytes(unsorted(155, &ids))), ErrorCode::corrupt_model,
                      "UNSORTED_SEGMENT_SUM", "segment 3");
}

}  // namespace
}  // namespace vellum::test
