// The device computes integers of 64 bits in 32. Inputs with which a result could exceed these are refused.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "public_interface.hpp"
#include "support/errors.hpp"
#include "support/tensors.hpp"
#include "vellum/vellum.hpp"

namespace vellum::test {
namespace {

HostTensor integers(Shape shape, int64_t value, DType dtype = DType::i64) {
  const std::vector<int64_t> values(static_cast<size_t>(element_count(shape)), value);
  return HostTensor::from<int64_t>(dtype, std::move(shape), values);
}

struct Function {
  std::string name;
  OnnxModel model;  // of x
  HostTensor largest;
  int64_t expected;  // the last element of y
};

OnnxModel of(const char* type, const std::vector<std::string>& inputs, Shape shape,
             const Attributes& attributes = {}, DType dtype = DType::i64) {
  OnnxModel model;
  model.input("x", std::move(shape), dtype);
  model.initializer("axis", integers({}, 0)).initializer("axes", integers({1}, 0));
  model.initializer("weight", integers({}, 1000))
      .initializer("four", integers({}, 4))
      .initializer("offset", integers({}, -5000));
  model.node(type, inputs, {"y"}, attributes).output("y");
  return model;
}

OnnxModel widened() {
  OnnxModel model;
  model.input("x", {4}, DType::i32).node("Cast", {"x"}, {"w"}, attributes({{"to", int64_t{7}}}));
  model.node("Add", {"w", "w"}, {"y"}).output("y");
  return model;
}

std::vector<Function> functions() {
  std::vector<Function> list;
  list.push_back({"sum", of("Add", {"x", "x"}, {4}), integers({4}, 1073741823), 2147483646});
  list.push_back({"difference", of("Sub", {"x", "offset"}, {4}), integers({4}, 2147478647), 2147483647});
  list.push_back({"square", of("Mul", {"x", "x"}, {4}), integers({4}, -46340), 2147395600});
  list.push_back({"product", of("Mul", {"x", "weight"}, {4}), integers({4}, 2147483), 2147483000});
  list.push_back({"total", of("ReduceSum", {"x", "axes"}, {3000}, attributes({{"keepdims", int64_t{0}}})),
                  integers({3000}, 715827), 2147481000});
  list.push_back(
      {"running total", of("CumSum", {"x", "axis"}, {3000}), integers({3000}, 715827), 2147481000});
  list.push_back({"matrices", of("MatMul", {"x", "x"}, {2, 2}), integers({2, 2}, 32767), 2147352578});
  list.push_back({"power", of("Pow", {"x", "four"}, {4}), integers({4}, 215), 2136750625});
  list.push_back(
      {"unsigned", of("Mul", {"x", "x"}, {4}, {}, DType::u64), integers({4}, 46340, DType::u64), 2147395600});
  list.push_back({"integers of 32 bits", widened(), integers({4}, 1073741823, DType::i32), 2147483646});
  return list;
}

// A boolean is at most one, whatever limit the integers beside it have.
TEST(IntegerLimits, LeaveBooleansAlone) {
  for (const int64_t to : {7, 13}) {  // int64, uint64
    OnnxModel model;
    model.input("x", {4}, DType::boolean).node("Cast", {"x"}, {"w"}, attributes({{"to", to}}));
    model.node("Add", {"w", "w"}, {"y"}).output("y");
    Session session(Device::open(device_options()), load(model));
    session.set_input("x", integers({4}, 1, DType::boolean));
    session.run();
    EXPECT_EQ(session.output("y").to_ints().back(), 2);
  }
}

TEST(IntegerLimits, AreTheLargestInputsWithRightResults) {
  for (const Function& function : functions()) {
    SCOPED_TRACE(function.name);
    Session session(Device::open(device_options()), load(function.model));
    session.set_input("x", function.largest);
    session.run();
    EXPECT_EQ(session.output("y").to_ints().back(), function.expected);
    const int64_t last = function.largest.to_ints().back();
    std::vector<int64_t> elements(static_cast<size_t>(function.largest.elements()), 1);
    elements.back() = last < 0 ? last - 1 : last + 1;
    const HostTensor beyond =
        HostTensor::from<int64_t>(function.largest.dtype(), function.largest.shape(), elements);
    EXPECT_VELLUM_ERROR(session.set_input("x", beyond), ErrorCode::unsupported, "'x'", "32 bits",
                        std::to_string(std::abs(last)));
  }
}

// No result of int64 of these inputs can exceed 32 bits.
TEST(IntegerLimits, OthersHaveNone) {
  constexpr int64_t kMost = 2147483647;
  OnnxModel wraps;  // as integers of 32 bits do
  wraps.input("x", {4}, DType::i32).node("Add", {"x", "x"}, {"y"}).output("y");
  OnnxModel gathers;
  gathers.input("x", {4}, DType::i64).initializer("k", integers({}, kMost));
  gathers.node("Mod", {"x", "k"}, {"m"}).node("Min", {"m", "k"}, {"y"}).output("y");
  OnnxModel beside;
  beside.input("x", {4}, DType::i64).input("z", {4}, DType::i64).node("Mul", {"z", "z"}, {"s"});
  beside.node("Concat", {"x", "s"}, {"y"}, attributes({{"axis", int64_t{0}}})).output("y");
  for (const OnnxModel* model : {&wraps, &gathers, &beside}) {
    Session session(Device::open(device_options()), load(*model));
    session.set_input("x", integers({4}, kMost, session.inputs()[0].dtype));
    if (session.inputs().size() > 1) session.set_input("z", integers({4}, 3));
    session.run();
    EXPECT_EQ(session.output("y").to_ints().size(), session.inputs().size() * 4);
  }
}

// What leaves the 32 bits of the device's integers whatever the inputs are is computed on the host, and
// refused only if a result does not fit them.
TEST(IntegerLimits, DifferencesOfUnsignedIntegers) {
  OnnxModel model;
  model.input("x", {2}, DType::u64).initializer("one", integers({}, 1, DType::u64));
  model.node("Sub", {"x", "one"}, {"y"}).output("y");
  DeviceOptions options = device_options();
  options.log = {};  // it warns of the host
  Session session(Device::open(options), load(model));
  session.set_input("x", integers({2}, 7, DType::u64));
  session.run();
  EXPECT_EQ(session.output("y").to_ints().back(), 6);
  session.set_input("x", integers({2}, 0, DType::u64));
  EXPECT_VELLUM_ERROR(session.run(), ErrorCode::unsupported, "does not fit the 32 bits");
}

// Positions in text, whose mask is added up.
TEST(IntegerLimits, LeaveMasksAndPositions) {
  OnnxModel model;
  model.input("x", {2, 3000}, DType::i64).initializer("axis", integers({}, 1));
  model.initializer("one", integers({}, 1)).node("CumSum", {"x", "axis"}, {"sum"});
  model.node("Sub", {"sum", "one"}, {"positions"}).node("Mul", {"positions", "x"}, {"y"}).output("y");
  Session session(Device::open(device_options()), load(model));
  session.set_input("x", integers({2, 3000}, 1));
  session.run();
  EXPECT_EQ(session.output("y").to_ints().back(), 2999);
}

// The device writes nothing beyond a cache: three tokens at a position that follows from an input.
TEST(IntegerLimits, PositionsOutsideOfACache) {
  OnnxModel model(24);
  model.input("cache", {1, 2, 8, 4}).input("tokens", {1, 2, 3, 4}).input("length", {1}, DType::i32);
  model.initializer("one", integers({1}, 1, DType::i32))
      .node("Sub", {"length", "one"}, {"before"})
      .node("Cast", {"before"}, {"begin"}, attributes({{"to", int64_t{7}}}))
      .node("TensorScatter", {"cache", "tokens", "begin"}, {"y"}, attributes({{"axis", int64_t{2}}}))
      .output("y");
  Session session(Device::open(device_options()), load(model));
  session.set_input("cache", random_tensor({1, 2, 8, 4}, 1));
  session.set_input("tokens", random_tensor({1, 2, 3, 4}, 2));
  for (const int64_t length : {1, 6}) {
    session.set_input("length", integers({1}, length, DType::i32));
    session.run();
  }
  for (const int64_t length : {0, 7, -1, INT32_MAX})
    EXPECT_VELLUM_ERROR(session.set_input("length", integers({1}, length, DType::i32)),
                        ErrorCode::invalid_argument, "outside of its cache", "1 to 6");
}

}  // namespace
}  // namespace vellum::test
