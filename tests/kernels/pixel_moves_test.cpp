// Moves between tokens and pictures that 1x1 convolutions and products do as they read or store.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compile/compile.hpp"
#include "exec/executor.hpp"
#include "kernels/framework/lowering.hpp"
#include "passes/passes.hpp"
#include "selfcheck/pixel_move_cases.hpp"
#include "support/gpu_test.hpp"
#include "support/kernel_harness.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test {
namespace pixel_moves_test {

size_t count_of(const Program& program, std::string_view shader) {
  return static_cast<size_t>(std::ranges::count_if(
      program.tasks, [&](const Task& task) { return task.dispatch && task.dispatch->shader == shader; }));
}

size_t moves_of(const Program& program) {
  return count_of(program, "strided_texels") + count_of(program, "transpose");
}

// Tokens of `images` images of 4 x 5 pixels are multiplied, convolved as pictures, and multiplied again, with
// a residual: an MLP of PVT v2.
struct Mlp {
  int64_t images = 1, channels = 16, wide = 24;
  bool residual = true;
  bool reads_tokens_again = false;  // what else reads the first product
};

OnnxModel mlp(const Mlp& m) {
  OnnxModel model(13);
  const Ints tokens{m.images, 20, m.channels}, picture{m.images, m.wide, 4, 5}, columns{m.images, m.wide, 20};
  model.input("x", tokens).initializer("up", random_tensor({m.channels, m.wide}, 1));
  model.initializer("down", random_tensor({m.wide, m.channels}, 2))
      .initializer("b", random_tensor({m.wide}, 3));
  model.initializer("dw", random_tensor({m.wide, 1, 3, 3}, 4));
  model.initializer("picture", HostTensor::i64({4}, picture))
      .initializer("columns", HostTensor::i64({3}, columns));
  const auto swapped = attributes({{"perm", Ints{0, 2, 1}}});
  model.node("MatMul", {"x", "up"}, {"u"}).node("Add", {"u", "b"}, {"h"});
  model.node("Transpose", {"h"}, {"c"}, swapped).node("Reshape", {"c", "picture"}, {"p"});
  model.node("Conv", {"p", "dw"}, {"q"}, attributes({{"group", m.wide}, {"pads", Ints{1, 1, 1, 1}}}));
  model.node("Reshape", {"q", "columns"}, {"d"}).node("Transpose", {"d"}, {"t"}, swapped);
  model.node("MatMul", {"t", "down"}, {"y"});
  if (m.residual)
    model.node("Add", {"x", "y"}, {"z"}).output("z");
  else
    model.output("y");
  if (m.reads_tokens_again) model.node("Sigmoid", {"h"}, {"again"}).output("again");
  return model;
}

Program lowered(const Mlp& m, StorageChoice storage, Precision precision = Precision::fp32) {
  return lower(optimise(mlp(m).graph(), {}), test_context()->caps(),
               {.precision = precision, .storage = storage, .inputs_to_channels4 = true});
}

void expect_results(const Mlp& m) {
  const Graph graph = optimise(mlp(m).graph(), {});
  const std::vector<HostTensor> inputs{random_tensor({m.images, 20, m.channels}, 5)};
  const auto want = evaluate(graph, inputs);
  for (const StorageChoice storage : {StorageChoice::image2d, StorageChoice::image3d, StorageChoice::buffer})
    for (const Precision precision : {Precision::fp32, Precision::fp16}) {
      Executor executor(test_context(), compile_program(test_context(), lowered(m, storage, precision)));
      executor.set_input(0, inputs[0]);
      executor.run();
      for (size_t i = 0; i < want.size(); ++i)
        EXPECT_LE(largest_difference(executor.output(i), want[i]),
                  precision == Precision::fp16 ? 3e-2 : 1e-5);
    }
}

TEST(PixelMoves, ProductsStoreAndReadPictures) {
  for (const Mlp& m : {Mlp{}, Mlp{.residual = false}, Mlp{.channels = 32, .wide = 64}}) {
    for (const StorageChoice storage : {StorageChoice::image2d, StorageChoice::buffer})
      EXPECT_EQ(moves_of(lowered(m, storage)), 0u);
    expect_results(m);
  }
}

TEST(PixelMoves, OfSeveralImages) { expect_results({.images = 2}); }

TEST(PixelMoves, WhatElseReadsTheTokensKeepsTheMove) {
  const Mlp m{.reads_tokens_again = true};
  EXPECT_EQ(moves_of(lowered(m, StorageChoice::buffer)), 1u);
  expect_results(m);
}

// The first-use check has a product that stores pixels as tokens, and one that stores tokens as pixels.
TEST(PixelMoves, SmallOperatorsOfTheFirstUseCheck) {
  std::vector<SmallOperator> cases;
  add_pixel_moves(cases);
  ASSERT_EQ(cases.size(), 2u);
  for (const SmallOperator& small : cases) {
    const Graph graph = optimise(small.graph, {});
    for (const StorageChoice storage : {StorageChoice::image2d, StorageChoice::buffer})
      EXPECT_EQ(
          moves_of(lower(graph, test_context()->caps(), {.storage = storage, .inputs_to_channels4 = true})),
          0u)
          << small.name;
  }
}

}  // namespace pixel_moves_test
}  // namespace vellum::test
