#include "graph/operators/movement/resize.hpp"

#include <gtest/gtest.h>

#include "run_operator.hpp"

namespace vellum::testing {
namespace {

using Attribute = std::pair<std::string, Attributes::Value>;

Attribute text(const char* name, const char* value) { return {name, std::string(value)}; }

const HostTensor row = floats({1, 1, 1, 4}, {0, 10, 20, 30});

HostTensor resize(std::vector<Attribute> attributes, const HostTensor& x, const Floats& scales) {
  return run({"Resize", 13, std::move(attributes)},
             {x, std::nullopt, floats({static_cast<int64_t>(scales.size())}, scales)});
}

TEST(Resize, RepeatsNearest) {
  const HostTensor x = floats({1, 1, 2, 2}, {1, 2, 3, 4});
  expect_floats(resize({}, x, {1, 1, 2, 1}), {1, 1, 4, 2}, {1, 2, 1, 2, 3, 4, 3, 4});
  expect_ints(resize({}, ints({2}, {7, 8}), {2}), {4}, {7, 7, 8, 8});
}

TEST(Resize, RefusesTablesBeyondAllPictures) {
  EXPECT_THROW(resize({}, floats({1}, {1}), {float{1 << 23}}), Error);
}

TEST(Resize, RoundsAsNearestModeSays) {
  const auto half = [](const char* mode) {
    return resize({text("coordinate_transformation_mode", "asymmetric"), text("nearest_mode", mode)},
                  floats({3}, {0, 1, 2}), {2});
  };
  expect_floats(half("floor"), {6}, {0, 0, 1, 1, 2, 2});
  expect_floats(half("ceil"), {6}, {0, 1, 1, 2, 2, 2});
  expect_floats(half("round_prefer_floor"), {6}, {0, 0, 1, 1, 2, 2});
  expect_floats(half("round_prefer_ceil"), {6}, {0, 1, 1, 2, 2, 2});
}

TEST(Resize, InterpolatesInEachCoordinateMode) {
  const auto linear = [](const char* mode) {
    return resize({text("mode", "linear"), text("coordinate_transformation_mode", mode)}, row,
                  {1, 1, 1, 0.5f});
  };
  expect_floats(linear("half_pixel"), {1, 1, 1, 2}, {5, 25});
  expect_floats(linear("pytorch_half_pixel"), {1, 1, 1, 2}, {5, 25});
  expect_floats(linear("align_corners"), {1, 1, 1, 2}, {0, 30});
  expect_floats(linear("asymmetric"), {1, 1, 1, 2}, {0, 20});
  expect_floats(linear("tf_half_pixel_for_nn"), {1, 1, 1, 2}, {10, 30});
  expect_floats(resize({text("mode", "linear")}, floats({2}, {0, 4}), {2}), {4}, {0, 1, 3, 4});
  // 1.2 elements are one, which is that in the middle.
  expect_floats(
      run({"Resize",
           19,
           {text("mode", "linear"), text("coordinate_transformation_mode", "half_pixel_symmetric")}},
          {row, std::nullopt, floats({4}, {1, 1, 1, 0.3f})}),
      {1, 1, 1, 1}, {15});
}

TEST(Resize, TreatsASingleElementAsItsModeSays) {
  const auto to_one = [](const char* mode) {
    return run({"Resize", 13, {text("mode", "linear"), text("coordinate_transformation_mode", mode)}},
               {row, std::nullopt, std::nullopt, ints({4}, {1, 1, 1, 1})});
  };
  expect_floats(to_one("half_pixel"), {1, 1, 1, 1}, {15});
  expect_floats(to_one("pytorch_half_pixel"), {1, 1, 1, 1}, {0});
  expect_floats(to_one("align_corners"), {1, 1, 1, 1}, {0});
}

TEST(Resize, InterpolatesCubically) {
  // Halfway between two elements with a = -0.5: (-1, 9, 9, -1) / 16.
  const std::vector<Attribute> cubic{text("mode", "cubic"), {"cubic_coeff_a", -0.5f}};
  const HostTensor x = floats({4}, {16, 0, 32, 48});
  expect_floats(resize(cubic, x, {0.25f}), {1}, {(-16.0f + 0 + 9 * 32 - 48) / 16});
  auto excluding = cubic;
  excluding.push_back({"exclude_outside", int64_t{1}});
  // Source 0.5 between the only two elements: the two outside are dropped, the rest is scaled to one.
  expect_floats(resize(excluding, floats({2}, {10, 30}), {0.5f}), {1}, {20});
}

TEST(Resize, AntialiasAveragesWhatAnElementCovers) {
  const auto smaller = [](const HostTensor& x, float scale) {
    return run({"Resize", 18, {text("mode", "linear"), {"antialias", int64_t{1}}}},
               {x, std::nullopt, floats({4}, {1, 1, 1, scale})});
  };
  // Weights 1/8, 3/8, 3/8, 1/8 around the middle; elements outside repeat those at the ends.
  expect_floats(smaller(row, 0.5f), {1, 1, 1, 2}, {(3 * 10 + 20) / 8.0f, (10 + 3 * 20 + 4 * 30) / 8.0f});
  expect_floats(smaller(row, 1), {1, 1, 1, 4}, {0, 10, 20, 30});
}

TEST(Resize, CropsAndExtrapolates) {
  const Spec spec{"Resize",
                  13,
                  {text("mode", "linear"),
                   text("coordinate_transformation_mode", "tf_crop_and_resize"),
                   {"extrapolation_value", -1.0f}}};
  const HostTensor roi = floats({2}, {0.5f, 1.5f});
  expect_floats(run(spec, {floats({3}, {0, 10, 20}), roi, std::nullopt, ints({1}, {3})}), {3}, {10, 20, -1});
}

TEST(Resize, KeepsTheAspectRatioWhenAsked) {
  const auto shape = [](const char* policy) {
    return run({"Resize", 18, {text("keep_aspect_ratio_policy", policy), {"axes", Ints{1, 2}}}},
               {counting({1, 2, 4}), std::nullopt, std::nullopt, ints({2}, {4, 4})})
        .shape();
  };
  EXPECT_EQ(shape("stretch"), (Shape{1, 4, 4}));
  EXPECT_EQ(shape("not_larger"), (Shape{1, 2, 4}));
  EXPECT_EQ(shape("not_smaller"), (Shape{1, 4, 8}));
}

TEST(Upsample, ReadsItsScalesFromAttributeOrInput) {
  const HostTensor x = floats({1, 1, 1, 2}, {1, 3});
  expect_floats(run({"Upsample", 7, {{"scales", Floats{1, 1, 1, 2}}}}, {x}), {1, 1, 1, 4}, {1, 1, 3, 3});
  const Spec linear{"Upsample", 9, {text("mode", "linear")}};
  expect_floats(run(linear, {x, floats({4}, {1, 1, 1, 2})}), {1, 1, 1, 4}, {1, 2, 3, 3});
}

TEST(Resize10, ShrinksToTheElementAbove) {
  const Spec spec{"Resize", 10};
  expect_floats(run(spec, {floats({4}, {0, 1, 2, 3}), floats({1}, {0.6f})}), {2}, {0, 2});
}

TEST(Resize, RefusesWhatDoesNotFit) {
  const HostTensor x = counting({2});
  expect_refused({"Resize", 13}, {x}, "neither scales nor sizes");
  expect_refused({"Resize", 13}, {x, std::nullopt, floats({1}, {-1})}, "a scale is");
  expect_refused({"Resize", 13}, {x, std::nullopt, floats({1}, {NAN})}, "a scale is");
  expect_refused({"Resize", 13}, {x, std::nullopt, floats({2}, {1, 1})}, "2 scales for 1 dimensions");
  expect_refused({"Resize", 13}, {x, std::nullopt, floats({1}, {1e30f})}, "a scale of",
                 ErrorCode::unsupported);
  expect_refused({"Resize", 13}, {x, std::nullopt, std::nullopt, ints({1}, {-3})}, "a size is -3");
  expect_refused({"Resize", 13, {text("mode", "lanczos")}}, {x}, "lanczos");
  expect_refused({"Resize", 13, {text("coordinate_transformation_mode", "tf_crop_and_resize")}},
                 {x, std::nullopt, floats({1}, {1})}, "without roi");
}

}  // namespace
}  // namespace vellum::testing
