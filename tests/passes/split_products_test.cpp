// A product whose columns are split becomes a product for each part.
#include <gtest/gtest.h>

#include "passes/pass_harness.hpp"

namespace vellum::test {
namespace {

OnnxModel product(int64_t columns, bool bias = true) {
  OnnxModel model(13);
  model.input("x", {2, 3, 8}).initializer("w", random_tensor({8, columns}, 1));
  model.initializer("b", random_tensor({columns}, 2));
  model.node("MatMul", {"x", "w"}, {bias ? "product" : "h"});
  if (bias) model.node("Add", {"b", "product"}, {"h"});
  return model;
}

Attributes axis(int64_t value) { return attributes({{"axis", value}}); }

TEST(SplitProducts, GatedMlp) {
  OnnxModel model = product(48);
  model.initializer("sizes", HostTensor::i64({2}, std::vector<int64_t>{16, 32}));
  model.initializer("v", random_tensor({16, 32}, 3));
  model.node("Split", {"h", "sizes"}, {"p", "q"}, axis(-1)).node("Sigmoid", {"q"}, {"g"});
  model.node("MatMul", {"p", "v"}, {"pv"}).node("Mul", {"pv", "g"}, {"y"}).output("y");
  EXPECT_EQ(types(after(split_products, model)), "MatMul Add MatMul Add Sigmoid MatMul Mul");
}

TEST(SplitProducts, SlicesOfColumns) {
  OnnxModel model = product(40, false);
  for (const auto& [name, value] : {std::pair{"zero", 0}, {"middle", 20}, {"end", 1000}, {"last", 2}})
    model.initializer(name, HostTensor::i64({1}, std::vector<int64_t>{value}));
  model.node("Slice", {"h", "zero", "middle", "last"}, {"p"})
      .node("Slice", {"h", "middle", "end", "last"}, {"q"});
  model.node("Mul", {"p", "q"}, {"y"}).output("y").output("q");
  EXPECT_EQ(types(after(split_products, model)), "MatMul MatMul Identity Mul");
}

TEST(SplitProducts, ActivationBeforeTheSplit) {
  OnnxModel model = product(48);
  model.initializer("low", HostTensor::f32({}, std::vector<float>{-0.5f}));
  model.node("Clip", {"h", "low"}, {"a"}).node("Split", {"a"}, {"p", "q"}, axis(-1));
  model.node("Mul", {"p", "q"}, {"y"}).output("y");
  EXPECT_EQ(types(after(split_products, model)), "MatMul Add Clip MatMul Add Clip Mul");
  OnnxModel read = product(48);
  read.node("Relu", {"h"}, {"a"}).node("Split", {"a"}, {"p", "q"}, axis(-1));
  read.node("Mul", {"p", "q"}, {"y"}).output("y").output("a");
  EXPECT_EQ(types(after(split_products, read)), "MatMul Add Relu Split Mul");
}

TEST(SplitProducts, WhatElseReadsTheProductKeepsIt) {
  OnnxModel model = product(32);
  model.node("Split", {"h"}, {"p", "q"}, axis(2)).node("Mul", {"p", "q"}, {"y"}).output("y");
  model.node("Relu", {"h"}, {"z"}).output("z");
  EXPECT_EQ(types(after(split_products, model)), "MatMul Add Split Mul Relu");
}

TEST(SplitProducts, OtherAxesAndNarrowPartsStay) {
  OnnxModel rows = product(32);
  rows.initializer("sizes", HostTensor::i64({2}, std::vector<int64_t>{1, 2}));
  rows.node("Split", {"h", "sizes"}, {"p", "q"}, axis(1)).node("Add", {"p", "q"}, {"y"}).output("y");
  EXPECT_EQ(types(after(split_products, rows)), "MatMul Add Split Add");
  OnnxModel narrow = product(16);
  narrow.node("Split", {"h"}, {"p", "q"}, axis(2)).node("Add", {"p", "q"}, {"y"}).output("y");
  EXPECT_EQ(types(after(split_products, narrow)), "MatMul Add Split Add");
}

}  // namespace
}  // namespace vellum::test
