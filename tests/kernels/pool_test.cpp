// Pools over windows and over whole planes.
#include "graph/operators/reduction/pool.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace pool_test {

struct Windows {
  Attributes::Ints kernel, strides = {}, pads = {}, dilations = {};
  bool ceil_mode = false;
};

OperatorCase pool_case(std::string type, Shape shape, const Windows& windows) {
  OperatorCase test{.type = std::move(type), .inputs = {random_tensor(std::move(shape), 1)}};
  test.opset = 19;
  test.attributes.set("kernel_shape", windows.kernel);
  if (!windows.strides.empty()) test.attributes.set("strides", windows.strides);
  if (!windows.pads.empty()) test.attributes.set("pads", windows.pads);
  if (!windows.dilations.empty()) test.attributes.set("dilations", windows.dilations);
  if (windows.ceil_mode) test.attributes.set("ceil_mode", int64_t{1});
  return test;
}

const Windows kWindows[] = {{{2, 2}, {2, 2}},
                            {{3, 3}, {2, 2}, {1, 1, 1, 1}},
                            {{3, 2}, {1, 3}, {0, 1, 2, 0}},
                            {{2, 3}, {1, 1}, {}, {2, 2}},
                            {{3, 3}, {2, 2}, {0, 0, 1, 1}, {}, true},
                            {{1, 1}, {3, 2}}};

TEST(Pool, Max) {
  for (const Windows& windows : kWindows) check_operator(pool_case("MaxPool", {2, 5, 7, 11}, windows));
}

TEST(Pool, Average) {
  for (const Windows& windows : kWindows) {
    OperatorCase test = pool_case("AveragePool", {2, 5, 7, 11}, windows);
    check_operator(test);
    test.attributes.set("count_include_pad", int64_t{1});
    check_operator(test);
  }
}

TEST(Pool, Lp) {
  OperatorCase test = pool_case("LpPool", {1, 6, 5, 7}, kWindows[1]);
  check_operator(test);
  test.attributes.set("p", int64_t{3});
  check_operator(test);
}

TEST(Pool, Volumes) {
  const Windows volumes[] = {{{2, 2, 2}, {2, 2, 2}},
                             {{3, 1, 2}, {1, 2, 3}, {1, 0, 0, 0, 0, 1}},
                             {{2, 3, 2}, {2, 2, 2}, {0, 1, 1, 1, 1, 0}, {1, 2, 1}, true}};
  for (const Windows& windows : volumes) {
    for (const char* type : {"MaxPool", "AveragePool", "LpPool"}) {
      OperatorCase test = pool_case(type, {2, 3, 5, 6, 7}, windows);
      check_operator(test);
      if (type == std::string("AveragePool")) test.attributes.set("count_include_pad", int64_t{1});
      if (type == std::string("LpPool")) test.attributes.set("p", int64_t{3});
      if (type != std::string("MaxPool")) check_operator(test);
    }
  }
}

TEST(Pool, MaxKeepsNaN) {
  HostTensor x = random_tensor({1, 3, 4, 6}, 4);
  for (const size_t i : {0u, 9u, 30u, 71u}) x.mutable_as<float>()[i] = std::nanf("");
  OperatorCase test = pool_case("MaxPool", {1, 3, 4, 6}, {{2, 2}, {2, 2}});
  test.inputs = {x};
  check_operator(test);
  check_operator({.type = "GlobalMaxPool", .inputs = {x}});
}

TEST(Pool, SamePadding) {
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER"}) {
    OperatorCase test = pool_case("MaxPool", {1, 3, 5, 4}, {{2, 2}, {2, 2}});
    test.attributes.set("auto_pad", std::string(mode));
    check_operator(test);
  }
}

TEST(Pool, OneSpatialDimension) {
  check_operator(pool_case("MaxPool", {2, 5, 9}, {{3}, {2}, {1, 1}}));
  check_operator(pool_case("AveragePool", {2, 5, 9}, {{2}, {2}}));
}

TEST(Pool, WidthOfOne) { check_operator(pool_case("MaxPool", {1, 1, 6, 1}, {{3, 1}, {2, 1}, {1, 0, 1, 0}})); }

TEST(GlobalPool, PlanesOfEverySize) {
  for (const char* type : {"GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"})
    for (const Shape& shape : {Shape{2, 5, 3, 7}, Shape{1, 3, 1, 1}, Shape{1, 6, 17, 13}, Shape{2, 3, 11}})
      check_operator({.type = type, .inputs = {random_tensor(shape, 2)}, .sweep = {.fp16_tolerance = 2e-2}});
  check_operator({.type = "GlobalAveragePool", .inputs = {random_tensor({1, 2, 3, 5, 7}, 3)}});
}

TEST(Pool, IndicesOfTheMaxima) {
  for (const Windows& windows : kWindows) {
    for (const int64_t column_major : {0, 1}) {
      OperatorCase test = pool_case("MaxPool", {2, 5, 7, 11}, windows);
      test.output_count = 2;
      test.attributes.set("storage_order", column_major);
      check_operator(test);
    }
  }
  OperatorCase line = pool_case("MaxPool", {2, 3, 9}, {{3}, {2}, {1, 1}});
  line.output_count = 2;
  check_operator(line);
}

// MediaPipe's MaxPoolingWithArgmax2D.
TEST(Pool, NumbersOfTheMaximaWithinTheirWindows) {
  for (const AutoPad padding : {AutoPad::same_upper, AutoPad::valid}) {
    auto pool = std::make_shared<Pool>();
    pool->window.kernel = {3, 2};
    pool->window.strides = {2, 2};
    pool->window.auto_pad = padding;
    pool->with_indices = pool->window_indices = true;
    check_operator(
        {.type = "MaxPool", .inputs = {random_tensor({2, 5, 8, 11}, 4)}, .output_count = 2, .op = pool});
  }
}

TEST(Pool, MaxOfBytes) {
  OperatorCase test = pool_case("MaxPool", {1, 5, 7, 4}, kWindows[1]);
  test.inputs = {cast(random_tensor({1, 5, 7, 4}, 2, 0.0f, 255.9f), DType::u8)};
  check_operator(test);
}

}  // namespace pool_test
}  // namespace vellum::test
