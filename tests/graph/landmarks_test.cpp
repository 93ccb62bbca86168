// MediaPipe's operators for attention to a region, by values computed by hand.
#include "graph/operators/movement/landmarks.hpp"

#include "run_operator.hpp"

namespace vellum::testing {
namespace {

HostTensor matrix(const Floats& rows) {
  Floats all = rows;
  all.insert(all.end(), {0, 0, 1, 0, 0, 0, 0, 1});
  return floats({1, 4, 4}, all);
}

// A box of 4 x 2 around (12, 21), landmark 3 outside of it.
LandmarksToMatrix small_region() {
  LandmarksToMatrix op;
  op.left = 0;
  op.right = 1;
  op.subset = {0, 1, 2};
  op.width = 8;
  op.height = 2;
  op.scale_x = 2;
  op.scale_y = 3;
  return op;
}

TEST(Landmarks, MatrixOfAnUprightRegion) {
  const auto landmarks = floats({1, 4, 3}, {10, 20, 5, 14, 20, 5, 12, 22, 5, 100, 100, 5});
  // Scales 2 * 4 / 8 and 3 * 2 / 2; the crop's centre (4, 1) goes to (12, 21).
  expect_floats(run_all(small_region(), {landmarks})[0], {1, 4, 4},
                {1, 0, 0, 8, 0, 3, 0, 18, 0, 0, 1, 0, 0, 0, 0, 1});
}

// The region of the test above, a quarter turn on: (x, y) -> (-y, x).
TEST(Landmarks, MatrixOfATurnedRegion) {
  const auto landmarks = floats({1, 4, 3}, {-20, 10, 0, -20, 14, 0, -22, 12, 0, 0, 0, 0});
  expect_floats(run_all(small_region(), {landmarks})[0], {1, 4, 4},
                {0, -3, 0, -18, 1, 0, 0, 8, 0, 0, 1, 0, 0, 0, 0, 1}, 1e-4f);
  LandmarksToMatrix as_it_is = small_region();
  as_it_is.target_rotation = 1.57079633f;  // the box is 2 x 4 around (-21, 12): scales 0.5 and 6
  expect_floats(run_all(as_it_is, {landmarks})[0], {1, 4, 4},
                {0.5f, 0, 0, -23, 0, 6, 0, 6, 0, 0, 1, 0, 0, 0, 0, 1}, 1e-4f);
}

TEST(Landmarks, MatrixChecksItsIndices) {
  const auto two = floats({1, 2, 3}, {0, 0, 0, 1, 1, 1});
  expect_error(ErrorCode::corrupt_model, "landmark 2 of 2", [&] { run_all(small_region(), {two}); });
  LandmarksToMatrix empty = small_region();
  empty.subset = {};
  expect_error(ErrorCode::corrupt_model, "no landmarks", [&] { run_all(empty, {two}); });
}

TEST(Landmarks, CropKeepsCentresOfPixels) {
  TransformTensorBilinear op;
  op.width = 3;
  op.height = 2;
  const auto x = floats({1, 2, 2, 3}, {0, 1, 2, 10, 11, 12, 100, 101, 102, 110, 111, 112});
  expect_floats(run_all(op, {x, matrix({1, 0, 0, 0, 0, 1, 0, 0})})[0], {1, 2, 2, 3},
                {0, 1, 2, 10, 11, 12, 100, 101, 102, 110, 111, 112});
  // Centres 0.5, 1.5, 2.5 go to pixels 0.25, 1.25, 2.25 of 0..2 and rows 0.5, 1.5 of 0..1: nothing is blended
  // with pixels outside, the position is outside.
  expect_floats(run_all(op, {x, matrix({1, 0, 0, 0.25f, 0, 1, 0, 0.5f})})[0], {1, 2, 2, 3},
                {5.25f, 6.25f, 0, 0, 0, 0, 105.25f, 106.25f, 0, 0, 0, 0});
  // Half the size: 0.5 -> 0.25 is pixel -0.25, 1.5 -> 0.75 is 0.25, 2.5 -> 1.25 is 0.75; transposed by the
  // rows.
  expect_floats(run_all(op, {x, matrix({0, 0.5f, 0, 0.25f, 0.5f, 0, 0, 0})})[0], {1, 2, 2, 3},
                {0, 2.5f, 7.5f, 0, 3, 8, 0, 102.5f, 107.5f, 0, 103, 108});
}

TEST(Landmarks, CropOfNoPosition) {
  TransformTensorBilinear op;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto x = floats({1, 1, 1, 1}, {7});
  expect_floats(run_all(op, {x, matrix({nan, 0, 0, 0, 0, 1, 0, 0})})[0], {1, 1, 1, 1}, {0});
  expect_floats(run_all(op, {x, matrix({1, 0, 0, 1e30f, 0, 1, 0, 0})})[0], {1, 1, 1, 1}, {0});
  expect_error(ErrorCode::corrupt_model, "matrix", [&] {
    run_all(op, {x, floats({1, 2, 2}, {1, 0, 0, 1})});
  });
}

TEST(Landmarks, TransformedInTheImagePlane) {
  const auto m = matrix({2, 1, 50, 3, -1, 4, 50, -5});
  expect_floats(run_all(TransformLandmarks(), {floats({1, 2, 2}, {1, 2, 10, 20}), m})[0], {1, 2, 2},
                {7, 2, 43, 65});
  expect_floats(run_all(TransformLandmarks(), {floats({1, 2, 3}, {1, 2, 9, 10, 20, 8}), m})[0], {1, 2, 3},
                {7, 2, 9, 43, 65, 8});
  expect_error(ErrorCode::corrupt_model, "landmarks", [&] {
    run_all(TransformLandmarks(), {floats({1, 4}, {1, 2, 3, 4}), m});
  });
}

}  // namespace
}  // namespace vellum::testing
