// Positions that are inputs of a model: those outside of the data are errors, as they are in ONNX Runtime. A
// device would read the nearest position instead, and write nothing.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "decoder.hpp"
#include "public_interface.hpp"
#include "step_models.hpp"
#include "support/errors.hpp"
#include "support/tensors.hpp"
#include "vellum/tune.hpp"
#include "vellum/vellum.hpp"

namespace vellum::test {
namespace {

using Integers = std::vector<int64_t>;

struct IndexCase {
  std::string name;
  OnnxModel model;  // of the positions `at`
  Shape shape;      // of `at`
  Integers sizes;   // the dimensions that the elements of `at` count, in turns
  int64_t added = 0;
};

OnnxModel indexed(const std::string& type, Shape shape, DType dtype, Shape data,
                  const Attributes& options = {}, const std::vector<std::string>& inputs = {"data", "at"}) {
  OnnxModel model(16);
  model.input("at", std::move(shape), dtype).initializer("data", random_tensor(data, 1));
  if (type.starts_with("Scatter")) {
    const bool of_elements = type == "ScatterElements";
    model.initializer("updates", random_tensor(of_elements ? Shape{2, 3} : Shape{2}, 2));
  }
  model.node(type, inputs, {"y"}, options).output("y");
  return model;
}

// The positions are reshaped, cast and shifted before they are used.
OnnxModel shifted(DType dtype) {
  OnnxModel model;
  model.input("at", {2, 2}, dtype)
      .initializer("data", random_tensor({5, 3}, 1))
      .initializer("all", HostTensor::i64({1}, Integers{-1}))
      .initializer("two", HostTensor::i64({}, Integers{2}))
      .node("Reshape", {"at", "all"}, {"flat"})
      .node("Cast", {"flat"}, {"long"}, attributes({{"to", int64_t{7}}}))
      .node("Add", {"long", "two"}, {"sum"})
      .node("Gather", {"data", "sum"}, {"y"})
      .output("y");
  return model;
}

OnnxModel quantised_rows(DType dtype) {
  OnnxModel model;
  model.input("at", {2}, dtype)
      .initializer("data", HostTensor(DType::u8, {5, 32}))
      .initializer("scales", random_tensor({5, 2}, 3, 0.5f, 1.0f))
      .node("com.microsoft.GatherBlockQuantized", {"data", "at", "scales"}, {"y"},
            attributes({{"bits", int64_t{8}},
                        {"block_size", int64_t{16}},
                        {"gather_axis", int64_t{0}},
                        {"quantize_axis", int64_t{1}}}))
      .output("y");
  return model;
}

std::vector<IndexCase> index_cases(DType dtype) {
  const Attributes last = attributes({{"axis", int64_t{-1}}}),
                   batches = attributes({{"batch_dims", int64_t{1}}});
  std::vector<IndexCase> cases;
  cases.push_back({"rows", indexed("Gather", {2, 2}, dtype, {5, 3}), {2, 2}, {5}});
  cases.push_back({"columns", indexed("Gather", {2}, dtype, {5, 3}, last), {2}, {3}});
  cases.push_back({"shifted rows", shifted(dtype), {2, 2}, {5}, 2});
  cases.push_back({"elements", indexed("GatherElements", {2, 3}, dtype, {2, 7}, last), {2, 3}, {7}});
  cases.push_back({"quantised rows", quantised_rows(dtype), {2}, {5}});
  const std::vector<std::string> scattered{"data", "at", "updates"};
  cases.push_back({"scattered elements",
                   indexed("ScatterElements", {2, 3}, dtype, {2, 7}, last, scattered),
                   {2, 3},
                   {7}});
  if (dtype == DType::i32) return cases;  // tuples are int64
  cases.push_back({"tuples", indexed("GatherND", {2, 2}, dtype, {5, 3}), {2, 2}, {5, 3}});
  cases.push_back(
      {"tuples of batches", indexed("GatherND", {2, 3, 1}, dtype, {2, 4}, batches), {2, 3, 1}, {4}});
  cases.push_back(
      {"scattered tuples", indexed("ScatterND", {2, 2}, dtype, {5, 3}, {}, scattered), {2, 2}, {5, 3}});
  return cases;
}

class InputIndices : public testing::TestWithParam<DType> {
 protected:
  // The positions that are position(size) of the dimension that each of them counts.
  template <typename Position>
  static HostTensor positions(const IndexCase& c, const Position& position) {
    Integers values(static_cast<size_t>(element_count(c.shape)));
    for (size_t i = 0; i < values.size(); ++i) values[i] = position(c.sizes[i % c.sizes.size()]) - c.added;
    return HostTensor::from<int64_t>(GetParam(), c.shape, values);
  }
  Device device_ = Device::open(device_options());
};

TEST_P(InputIndices, CountFromBothEndsOfTheData) {
  for (const IndexCase& c : index_cases(GetParam())) {
    SCOPED_TRACE(c.name);
    Session session(device_, load(c.model));
    const auto result = [&](const auto& position) {
      return session.run({{"at", positions(c, position)}}).at("y");
    };
    // A scattered position may be written once: the last element alone decides there.
    const Tensor first = result([](int64_t) { return 0; }), last = result([](int64_t n) { return n - 1; });
    if (!c.name.starts_with("scattered")) {
      EXPECT_TRUE(same_bits(result([](int64_t n) { return -n; }), first));
      EXPECT_TRUE(same_bits(result([](int64_t) { return -1; }), last));
    }
    if (c.name != "quantised rows") {
      EXPECT_FALSE(same_bits(first, last));
    }
  }
}

TEST_P(InputIndices, OutsideOfTheDataAreErrors) {
  for (const IndexCase& c : index_cases(GetParam())) {
    SCOPED_TRACE(c.name);
    Session session(device_, load(c.model));
    const HostTensor zeros = positions(c, [](int64_t) { return 0; });
    const Integers inside = zeros.to_ints();
    for (size_t i = 0; i < inside.size(); ++i) {
      const int64_t size = c.sizes[i % c.sizes.size()];
      Integers outside{-size - 1, size, std::numeric_limits<int32_t>::max(),
                       std::numeric_limits<int32_t>::min()};
      if (GetParam() == DType::i64) outside.insert(outside.end(), {int64_t{1} << 32, -(int64_t{1} << 32)});
      for (const int64_t index : outside) {
        Integers values = inside;
        const bool fits = GetParam() == DType::i64 || index >= std::numeric_limits<int32_t>::min() + c.added;
        values[i] = fits ? index - c.added : index;
        const Tensor at = HostTensor::from<int64_t>(GetParam(), c.shape, values);
        const std::string range =
            std::to_string(-size - c.added) + " to " + std::to_string(size - 1 - c.added);
        EXPECT_VELLUM_ERROR(session.set_input("at", at), ErrorCode::invalid_argument, "input 'at' has",
                            std::to_string(values[i]), "outside of its data", range);
        EXPECT_VELLUM_ERROR(session.submit({{"at", at}}), ErrorCode::invalid_argument, "input 'at' has",
                            range);
      }
    }
    session.run({{"at", zeros}});  // the session goes on
  }
}

INSTANTIATE_TEST_SUITE_P(Types, InputIndices, testing::Values(DType::i32, DType::i64),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST(InputBytes, ThatTheTableHoldsAreAllTaken) {
  OnnxModel model;
  model.input("picture", {1, 8}, DType::u8)
      .initializer("table", random_tensor({256}, 1))
      .node("Cast", {"picture"}, {"at"}, attributes({{"to", int64_t{7}}}))
      .node("Gather", {"table", "at"}, {"y"})
      .output("y");
  Session session(Device::open(device_options()), load(model));
  const HostTensor picture =
      HostTensor::from<int64_t>(DType::u8, {1, 8}, Integers{0, 1, 2, 127, 128, 200, 254, 255});
  const auto table = random_tensor({256}, 1).to_floats();
  const auto y = session.run({{"picture", picture}}).at("y").to_floats();
  for (size_t i = 0; i < y.size(); ++i)
    EXPECT_EQ(y[i], table[static_cast<size_t>(picture.to_ints()[i])]) << i;
}

// Steps whose rows are set for all of them at once.
TEST_F(Steps, CheckTheIndicesOfAllSteps) {
  OnnxModel model;
  model.input("at", {2}, DType::i64)
      .input("sum", {2, 3})
      .initializer("data", random_tensor({5, 3}, 1))
      .node("Gather", {"data", "at"}, {"rows"})
      .node("Add", {"sum", "rows"}, {"sum.next"})
      .output("sum.next");
  Session session = make(model, {.state = "auto"});
  const StepLoop loop = session.bind_steps({.steps = 3, .step_inputs = {"at"}});
  session.run_steps(loop, {{"at", integers({3, 2}, {0, 4, -5, -1, 2, 3})}});
  const Tensor sum = session.state("sum");
  EXPECT_VELLUM_ERROR(session.run_steps(loop, {{"at", integers({3, 2}, {0, 4, 1, 1, 2, 5})}}),
                      ErrorCode::invalid_argument, "input 'at' has 5", "-5 to 4");
  EXPECT_TRUE(same_bits(session.state("sum"), sum));
}

// A token beyond the vocabulary is refused before a cache changes.
TEST(InputTokens, BeyondTheVocabularyLeaveTheCaches) {
  const Decoder decoder({}, DecoderForm::concatenation);
  SessionOptions options{.state = "auto", .state_capacity = 80};
  Session session(Device::open(device_options()), load(decoder.model()), options);
  const auto inputs = [&](const Integers& tokens, int64_t past) {
    const auto count = static_cast<int64_t>(tokens.size());
    Integers mask(80, 0);
    std::fill_n(mask.begin(), past + count, 1);
    return std::map<std::string, Tensor>{{"input_ids", Tensor::i64({1, count}, tokens)},
                                         {"attention_mask", Tensor::i64({1, 80}, mask)}};
  };
  const Integers prompt{7, 3, 44, 60, 0}, expected = decoder.generate(prompt, 3);
  EXPECT_EQ(session.run(inputs(prompt, 0)).at("next").to_ints().back(), expected[0]);
  for (const int64_t token : {int64_t{61}, int64_t{-62}, int64_t{1} << 32}) {
    EXPECT_VELLUM_ERROR(session.run(inputs({token}, 5)), ErrorCode::invalid_argument, "input 'input_ids' has",
                        std::to_string(token), "-61 to 60");
    EXPECT_VELLUM_ERROR(session.submit(inputs({token}, 5)), ErrorCode::invalid_argument, "-61 to 60");
    EXPECT_VELLUM_ERROR(session.run(inputs({token, 1}, 5)), ErrorCode::invalid_argument, "-61 to 60");
  }
  EXPECT_EQ(session.run(inputs({expected[0]}, 5)).at("next").to_ints(), Integers{expected[1]});
  EXPECT_EQ(session.run(inputs({expected[1]}, 6)).at("next").to_ints(), Integers{expected[2]});
}

// The integers with which tuning and measurements of memory run are inside of caches.
TEST(InputTokens, OfTuningAreInsideOfCaches) {
  OnnxModel model(24);
  model.input("cache", {1, 2, 8, 4}).input("tokens", {1, 2, 3, 4}).input("length", {1}, DType::i64);
  model.initializer("three", HostTensor::i64({1}, Integers{3}))
      .node("Sub", {"length", "three"}, {"begin"})
      .node("TensorScatter", {"cache", "tokens", "begin"}, {"y"}, attributes({{"axis", int64_t{2}}}))
      .output("y");
  const Device device = Device::open(device_options());
  EXPECT_NO_THROW(tune(device, load(model), {}, {.seconds = 0.1, .storages = false}));
  forget_tuning(device);
}

}  // namespace
}  // namespace vellum::test
