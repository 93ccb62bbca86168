// Models that were exported for one image, with constants that say so, run with several.
#include <gtest/gtest.h>

#include "passes/pass_harness.hpp"
#include "support/errors.hpp"
#include "support/small_tensors.hpp"

namespace vellum::test {
namespace {

HostTensor run(const OnnxModel& model, const HostTensor& x) {
  Graph graph = model.graph();
  infer_shapes_and_fold(graph, {{"x", x.shape()}});
  return evaluate(graph, std::array{x})[0];
}

TEST(Batch, ReshapesToABatchOfOneTakeTheBatchAlong) {
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{1, 12}, {1, -1}, {1, 4, 3}, {1, 2, 2, -1}}) {
    for (const int64_t declared : {int64_t{1}, kUnknownDim}) {
      OnnxModel model;
      model.input("x", {declared, 3, 4}).initializer("shape", ints(shape));
      model.node("Transpose", {"x"}, {"t"}, attributes({{"perm", Attributes::Ints{0, 2, 1}}}));
      model.node("Reshape", {"t", "shape"}, {"y"}).output("y");
      const HostTensor all = run(model, counting({3, 3, 4}));
      EXPECT_EQ(all.shape()[0], 3);
      EXPECT_EQ(all.shape().size(), shape.size());
      // Every image by itself gives its part of the result.
      const auto together = all.to_floats(), input = counting({3, 3, 4}).to_floats();
      for (size_t n = 0; n < 3; ++n) {
        const HostTensor one = run(model, HostTensor::f32({1, 3, 4}, std::span(input).subspan(12 * n, 12)));
        const auto alone = one.to_floats();
        EXPECT_TRUE(
            std::equal(alone.begin(), alone.end(), together.begin() + static_cast<std::ptrdiff_t>(12 * n)));
      }
    }
  }
}

// The first dimension is as large as the batch, and is none.
TEST(Batch, OtherFirstDimensionsAreRefused) {
  OnnxModel model;
  model.input("x", {1, 2, 3}).initializer("shape", ints({1, 6}));
  model.node("Transpose", {"x"}, {"t"}, attributes({{"perm", Attributes::Ints{1, 0, 2}}}), "turn");
  model.node("Reshape", {"t", "shape"}, {"y"}, {}, "flatten").output("y");
  EXPECT_EQ(run(model, counting({1, 2, 3})).shape(), (Shape{1, 6}));
  EXPECT_VELLUM_ERROR(run(model, counting({2, 2, 3})), ErrorCode::corrupt_model, "Reshape 'flatten'");
}

TEST(Batch, OtherConstantsOfOneImageAreRefused) {
  OnnxModel model;
  model.input("x", {1, 3}).initializer("token", HostTensor::f32({1, 1}, std::array{5.0f}));
  model.node("Concat", {"token", "x"}, {"y"}, attributes({{"axis", int64_t{1}}}), "join").output("y");
  EXPECT_VELLUM_ERROR(run(model, counting({2, 3})), ErrorCode::corrupt_model, "Concat 'join'");
}

}  // namespace
}  // namespace vellum::test
