// Quantised operators of the domain com.microsoft. tests/oracles/onnx_contrib.py prints these values, which
// ONNX Runtime computes.
#include <gtest/gtest.h>

#include <cmath>

#include "run_operator.hpp"

namespace vellum::testing {
namespace {

HostTensor byte(int64_t value) { return HostTensor::from<int64_t>(DType::u8, {}, std::array{value}); }
HostTensor signed_bytes(const Ints& values) {
  return HostTensor::from<int64_t>(DType::i8, {static_cast<int64_t>(values.size())}, values);
}
HostTensor number(float value) { return floats({}, {value}); }

TEST(ContribQuantised, SoftmaxWhereAndMean) {
  const HostTensor x = octets({2, 3}, 1);
  expect_ints(run({"com.microsoft.QLinearSoftmax", 1, {{"opset", int64_t{13}}, {"axis", int64_t{-1}}}},
                  {x, number(0.03125f), byte(7), number(0.00390625f), byte(0)}),
              {2, 3}, {18, 57, 181, 18, 57, 181});
  expect_ints(run({"com.microsoft.QLinearSoftmax", 1, {{"opset", int64_t{12}}, {"axis", int64_t{0}}}},
                  {octets({2, 1, 3}, 1), number(0.03125f), byte(7), number(0.00390625f), byte(0)}),
              {2, 1, 3}, {1, 2, 5, 17, 55, 176});
  expect_ints(run({"com.microsoft.QLinearWhere", 1, {}},
                  {bools({2, 1}, {1, 0}), x, number(0.5f), byte(3), octets({1, 3}, 5), number(0.25f),
                   byte(200), number(1), byte(100)}),
              {2, 3}, {104, 122, 141, 64, 73, 82});
  // By hand: no provider of ONNX Runtime has it. Means 48 and 159, minus 3, halved: 22.5 goes to the even 22.
  expect_ints(run({"com.microsoft.QLinearReduceMean", 1, {{"axes", Ints{1}}, {"keepdims", int64_t{0}}}},
                  {x, number(0.5f), byte(3), number(1), byte(1)}),
              {2}, {23, 79});
}

TEST(ContribQuantised, PoolsOfChannelsLast) {
  const OptionalTensors inputs{octets({1, 3, 2, 4}, 1), number(0.5f), byte(3), number(0.5f), byte(9)};
  expect_ints(run({"com.microsoft.QLinearAveragePool",
                   1,
                   {{"kernel_shape", Ints{2, 1}}, {"channels_last", int64_t{1}}}},
                  inputs),
              {1, 2, 2, 4}, {37, 74, 111, 148, 185, 222, 131, 40, 77, 114, 151, 188, 225, 134, 43, 80});
  expect_ints(run({"com.microsoft.QLinearGlobalAveragePool", 1, {{"channels_last", int64_t{1}}}}, inputs),
              {1, 1, 1, 4}, {131, 125, 120, 114});
}

TEST(ContribQuantised, ProductsToFloats) {
  const HostTensor weights = octets({4, 2}, 3, DType::i8), scale = floats({2}, {0.125f, 0.25f}),
                   zero = signed_bytes({1, -2}), bias = floats({2}, {1, 2});
  expect_floats(run({"com.microsoft.MatMulIntegerToFloat", 1, {}},
                    {octets({3, 4}, 2), weights, number(0.5f), scale, byte(9), zero, bias}),
                {3, 2}, {-70.5f, -371, 516.5f, -2253, 79.5f, -551});
  expect_floats(
      run({"com.microsoft.DynamicQuantizeMatMul", 1, {}}, {eighths({3, 4}, 2), weights, scale, zero, bias}),
      {3, 2}, {-10.25f, 42.25f, 12.28125f, -9.4375f, -5.03125f, 16.4375f}, 0.2f);
}

// ONNX Runtime rounds inputs and states to 8 bits here; Vellum does not.
TEST(ContribQuantised, LstmWithWeightsOf8Bits) {
  const OptionalTensors inputs{eighths({3, 1, 3}, 1),
                               octets({1, 3, 8}, 1, DType::i8),
                               octets({1, 2, 8}, 2, DType::i8),
                               eighths({1, 16}, 3),
                               {},
                               {},
                               {},
                               {},
                               floats({1}, {0.0078125f}),
                               signed_bytes({3}),
                               floats({1}, {0.00390625f}),
                               signed_bytes({-2})};
  const Spec spec{"com.microsoft.DynamicQuantizeLSTM", 1, {{"hidden_size", int64_t{2}}}, 3};
  const auto results = run_all(*make(spec, inputs), inputs);
  expect_floats(results[0], {3, 1, 1, 2},
                {-0.0160050355f, -0.079828456f, 0.0284900591f, -0.0474086776f, 0.0128288232f, -0.120392859f},
                2e-3f);
  expect_floats(results[1], {1, 1, 2}, {0.0128288232f, -0.120392859f}, 2e-3f);
  expect_floats(results[2], {1, 1, 2}, {0.0426853448f, -0.236948699f}, 2e-3f);
}

struct Blocks {
  int64_t bits, rows, block;
  bool has_zero = true, has_groups = false;
};

OptionalTensors block_inputs(const Blocks& form) {
  constexpr int64_t kColumns = 3;
  const int64_t blocks = (form.rows + form.block - 1) / form.block;
  OptionalTensors inputs{eighths({2, form.rows}, 4),
                         octets({kColumns, blocks, form.block * form.bits / 8}, 6),
                         eighths({kColumns * blocks}, 1, 0.125f, true)};
  inputs.resize(6);
  if (form.has_zero) inputs[3] = octets({kColumns, (blocks * form.bits + 7) / 8}, 8);
  if (form.has_groups) {
    Ints groups;
    for (int64_t k = 0; k < form.rows; ++k) groups.push_back(k * 3 % blocks);
    inputs[4] = HostTensor::from<int64_t>(DType::i32, {form.rows}, groups);
  }
  inputs[5] = floats({kColumns}, {1, 2, 3});
  return inputs;
}

Spec block_spec(const Blocks& form) {
  return {"com.microsoft.MatMulNBits",
          1,
          {{"K", form.rows}, {"N", int64_t{3}}, {"bits", form.bits}, {"block_size", form.block}}};
}

void expect_product(const Blocks& form, const Floats& values) {
  expect_floats(run(block_spec(form), block_inputs(form)), {2, 3}, values);
}

TEST(ContribQuantised, WeightsInBlocks) {
  expect_product({4, 20, 16}, {1.67578125f, 2.57226562f, 4.734375f, 0.515625f, 1.51171875f, 4.4375f});
  expect_product({4, 32, 32, false},
                 {1.67382812f, 1.078125f, 3.19921875f, 1.33398438f, 2.5078125f, 5.54296875f});
  expect_product({8, 20, 16},
                 {3.57421875f, 1.47070312f, -6.48046875f, 3.72460938f, -10.6484375f, -21.15625f});
  expect_product({2, 20, 16}, {1.22460938f, 1.73242188f, 3.39453125f, 0.7890625f, 1.921875f, 2.71484375f});
  expect_product({4, 32, 16, false, true},
                 {1.8828125f, 1.84765625f, 3.16015625f, 1.34375f, 2.63476562f, 4.45703125f});
}

TEST(ContribQuantised, FloatZeroPointsAreThoseOfTheirBlocks) {
  const Blocks form{4, 32, 16, false};
  OptionalTensors inputs = block_inputs(form);
  const HostTensor middle = run(block_spec(form), inputs);
  inputs[3] = floats({6}, Floats(6, 8.0f));
  expect_floats(run(block_spec(form), inputs), {2, 3}, middle.to_floats());
}

TEST(ContribQuantised, BlocksThatDoNotFitAreRefused) {
  const auto refused = [](const Blocks& form, const char* what, ErrorCode code) {
    expect_refused(block_spec(form), block_inputs({4, 32, 16}), what, code);
  };
  refused({4, 32, 12}, "block_size is 12", ErrorCode::corrupt_model);
  refused({3, 32, 16}, "weights of 3 bits", ErrorCode::unsupported);
  refused({4, 0, 16}, "K is 0", ErrorCode::corrupt_model);
  refused({4, 64, 16}, "the integers of B are", ErrorCode::corrupt_model);
  OptionalTensors inputs = block_inputs({4, 32, 16, true, true});
  inputs[4] = HostTensor::from<int64_t>(DType::i32, {32}, Ints(32, 2));
  expect_refused(block_spec({4, 32, 16}), inputs, "block 2 of 2", ErrorCode::corrupt_model);
}

HostTensor gathered(int64_t bits, bool has_zero) {
  OptionalTensors inputs{octets({3, 24 * bits / 8}, 7), ints({2}, {2, 0}), eighths({3, 2}, 2, 1.0f, true)};
  if (has_zero) inputs.emplace_back(octets({3, (2 * bits + 7) / 8}, 9));
  return run({"com.microsoft.GatherBlockQuantized",
              1,
              {{"gather_axis", int64_t{0}},
               {"quantize_axis", int64_t{1}},
               {"block_size", int64_t{16}},
               {"bits", bits}}},
             inputs);
}

TEST(ContribQuantised, RowsOfATableInBlocks) {
  expect_floats(gathered(4, true), {2, 24},
                {-4,   -0.5f,  -1.5f,  0.5f,  1,      -6.5f, -4.5f, -5,      -2,      -4,      0.5f,  -3,
                 -5,   -1.5f,  -2.5f,  -0.5f, 1.125f, 1.5f,  -3,    -3.375f, -1.125f, -2.625f, 0.75f, -1.875f,
                 2.5f, 0.25f,  -0.25f, 1,     1,      1.5f,  2.25f, 2,       -0.5f,   2.75f,   0.75f, -0.75f,
                 2,    -0.25f, -0.75f, 0.5f,  -1,     1,     4,     3,       9,       5,       -2,    8});
  expect_floats(
      gathered(4, false), {2, 24},
      {-1.5f, 2,     1,     3,      3.5f,   -4,    -2,     -2.5f,   0.5f,    -1.5f,   3,     -0.5f,
       -2.5f, 1,     0,     2,      1.875f, 2.25f, -2.25f, -2.625f, -0.375f, -1.875f, 1.5f,  -1.125f,
       1.25f, -1,    -1.5f, -0.25f, -0.25f, 0.25f, 1,      0.75f,   -1.75f,  1.5f,    -0.5f, -2,
       0.75f, -1.5f, -2,    -0.75f, -3,     -1,    2,      1,       7,       3,       -4,    6});
  expect_floats(
      gathered(8, true), {2, 24},
      {-93,    -74.5f,  -56, -37.5f, -19,     -0.5f,   -110,    -91.5f, -73,    -54.5f, -36,     -17.5f,
       1,      -108.5f, -90, -71.5f, 42.375f, 56.25f,  70.125f, 84,     1.875f, 15.75f, 29.625f, 43.5f,
       -5.5f,  3.75f,   13,  22.25f, 31.5f,   -23.25f, -14,     -4.75f, 4.5f,   13.75f, 23,      32.25f,
       -22.5f, -13.25f, -4,  5.25f,  21,      58,      95,      -124,   -87,    -50,    -13,     24});
}

}  // namespace
}  // namespace vellum::testing
