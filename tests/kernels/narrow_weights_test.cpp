// Weights of 4 bits, and weights with scales of blocks, take on the device what they take in a file, in every
// precision.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/conv/byte_weights.hpp"
#include "kernels/gpu_named.hpp"
#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace narrow_weights_test {

constexpr int64_t kOutputs = 40, kInputs = 96;

struct Form {
  int64_t bits = 4, block = 0;  // block 0: a scale for each output channel
  bool zero_points = false;
};

// The weight of an output channel, an input channel and a tap: a random integer times the scale of its block.
float weight_of(const Form& form, int64_t m, int64_t c, int64_t tap) {
  const int64_t block = form.block == 0 ? 0 : c / form.block, number = m + 5 * block + 11 * tap;
  const auto random = static_cast<uint32_t>((m * kInputs + c) * 9 + tap) * 2654435761u;
  const auto integer = static_cast<int64_t>(random >> (32 - form.bits));
  const int64_t zero = form.zero_points ? number % (int64_t{1} << form.bits) : int64_t{1} << (form.bits - 1);
  const float scale = 0.01f + 0.001f * static_cast<float>(form.block == 0 ? m % 13 : number % 13);
  return static_cast<float>(integer - zero) * scale;
}

ByteWeightsPointer found(const Form& form, int64_t taps = 1) {
  return find_narrow_weights(
      {.outputs = kOutputs, .inputs = kInputs, .taps = taps},
      [&](int64_t m, int64_t c, int64_t tap) { return weight_of(form, m, c, form.block == 0 ? 0 : tap); });
}

TEST(NarrowWeights, AreFoundInFloats) {
  const ByteWeightsPointer channels = found({});
  ASSERT_TRUE(channels);
  EXPECT_EQ(channels->bits, 4);
  EXPECT_FALSE(channels->blocks);
  for (const int64_t bits : {4, 8})
    for (const int64_t block : {16, 32, 64})
      for (const bool zero_points : {false, true})
        for (const int64_t taps : {1, 9}) {
          const ByteWeightsPointer blocks = found({bits, block, zero_points}, taps);
          ASSERT_TRUE(blocks && blocks->blocks);
          EXPECT_EQ(blocks->bits, bits);
          EXPECT_EQ(4 * blocks->blocks->slices, block);
          EXPECT_EQ(blocks->blocks->count, (kInputs + block - 1) / block);
          EXPECT_EQ(blocks->blocks->zero.empty(), !zero_points);
        }
}

TEST(NarrowWeights, ZeroPointsOfChannelsAreOneBlock) {
  for (const int64_t bits : {4, 8}) {
    const ByteWeightsPointer weights = found({bits, 0, true}, 9);
    ASSERT_TRUE(weights && weights->blocks);
    EXPECT_EQ(weights->bits, bits);
    EXPECT_TRUE(weights->blocks->shared_by_taps);
    EXPECT_EQ(weights->blocks->zero.size(), static_cast<size_t>(kOutputs));
  }
}

TEST(NarrowWeights, AreNotFoundWhereBytesSufficeOrNothingDoes) {
  EXPECT_FALSE(found({.bits = 8}));
  const HostTensor floats = random_tensor({kOutputs, kInputs}, 1);
  EXPECT_FALSE(
      find_narrow_weights({.outputs = kOutputs, .inputs = kInputs}, [&](int64_t m, int64_t c, int64_t) {
        return floats.as<float>()[static_cast<size_t>(m * kInputs + c)];
      }));
  EXPECT_FALSE(find_narrow_weights({.outputs = kOutputs, .inputs = kInputs, .allows_blocks = false},
                                   [&](int64_t m, int64_t c, int64_t tap) {
                                     return weight_of({4, 16}, m, c, tap);
                                   }));
}

// A network of one layer with these weights, and the bytes that a file has for them.
struct Layer {
  Graph graph;
  int64_t bytes = 0;
};

Layer layer(const std::string& type, const Form& form, int64_t kernel) {
  const int64_t taps = kernel * kernel;
  const bool is_product = type == "Gemm", is_transposed = type == "ConvTranspose";
  OperatorCase test;
  test.type = type;
  test.inputs = {random_tensor(is_product ? Shape{9, kInputs} : Shape{1, kInputs, 6, 5}, 1)};
  HostTensor weights(DType::f32, is_product      ? Shape{kInputs, kOutputs}
                                 : is_transposed ? Shape{kInputs, kOutputs, kernel, kernel}
                                                 : Shape{kOutputs, kInputs, kernel, kernel});
  const auto values = weights.mutable_as<float>();
  for (int64_t i = 0; i < weights.elements(); ++i) {
    const int64_t pair = i / taps, tap = i % taps;
    const bool by_inputs = is_product || is_transposed;
    values[static_cast<size_t>(i)] = weight_of(form, by_inputs ? pair % kOutputs : pair / kInputs,
                                               by_inputs ? pair / kOutputs : pair % kInputs, tap);
  }
  test.inputs.emplace_back(std::move(weights));
  test.constants = {1};
  Layer made{single_node_graph(test)};
  made.graph.has_integer_weights = true;
  const int64_t scales =
      form.block == 0 ? kOutputs : kOutputs * taps * ((kInputs + form.block - 1) / form.block);
  made.bytes = kOutputs * kInputs * taps * form.bits / 8 + 4 * scales +
               (form.zero_points ? scales * form.bits / 8 : 0) + 4 * kOutputs;
  return made;
}

TEST(NarrowWeights, TakeTheBytesOfTheFile) {
  const DeviceCaps devices[] = {DeviceCaps{}, gpu_named("NVIDIA H200"), adreno_named("Adreno (TM) 660")};
  const std::pair<const char*, int64_t> layers[] = {
      {"Gemm", 1}, {"Conv", 1}, {"Conv", 3}, {"ConvTranspose", 3}};
  for (const auto& [type, kernel] : layers)
    for (const Form form : {Form{}, Form{4, 32}, Form{4, 32, true}, Form{8, 32, true}})
      for (const DeviceCaps& device : devices)
        for (const Precision precision : {Precision::fp32, Precision::fp16}) {
          const Layer made = layer(type, form, kernel);
          const Program program = lower(made.graph, device, {.precision = precision});
          uint64_t bytes = 0;
          for (const VirtualTensor& tensor : program.tensors)
            if (tensor.role == TensorRole::weight) bytes += tensor.desc.byte_size();
          EXPECT_LE(static_cast<double>(bytes), 1.1 * static_cast<double>(made.bytes))
              << type << " " << kernel << ", " << form.bits << " bits in blocks of " << form.block << "\n"
              << to_text(program);
        }
}

}  // namespace narrow_weights_test
}  // namespace vellum::test
