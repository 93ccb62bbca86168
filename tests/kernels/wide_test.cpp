// Tensors wider than any image of a device: a vector of 50000, rows of 9000. They live in buffers, whatever
// storage is asked for, beside others that are images.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/kernel_harness.hpp"

namespace vellum::test {
namespace wide_test {

using Ints = Attributes::Ints;

OperatorCase pool(Shape shape, int64_t stride) {
  OperatorCase test{.type = "MaxPool", .inputs = {random_tensor(std::move(shape), 1)}};
  const size_t space = test.inputs[0]->shape().size() - 2;
  test.attributes.set("kernel_shape", Ints(space, 1));
  Ints strides(space, 1);
  strides.back() = stride;
  test.attributes.set("strides", strides);
  return test;
}

OperatorCase conv(Shape x, Shape w, int64_t stride) {
  OperatorCase test{.type = "Conv",
                    .inputs = {random_tensor(std::move(x), 1), random_tensor(std::move(w), 2)},
                    .constants = {1}};
  const size_t space = test.inputs[0]->shape().size() - 2;
  Ints strides(space, 1);
  strides.back() = stride;
  test.attributes.set("strides", strides);
  return test;
}

// The storage of the value `name` in channels4 layout, on a device with the limits of the Android
// baseline.
Storage storage_of(const OperatorCase& test, StorageChoice choice, const std::string& name) {
  LoweringOptions options;
  options.storage = choice;
  options.inputs_to_channels4 = true;
  const Program program = lower(single_node_graph(test), DeviceCaps(), options);
  for (const VirtualTensor& tensor : program.tensors)
    if (tensor.name == name && tensor.desc.layout == Layout::channels4) return tensor.desc.storage;
  ADD_FAILURE() << name << " has no tensor in channels4";
  return Storage::buffer;
}

TEST(WideTensors, FallBackToBuffersOneByOne) {
  for (const Shape& shape : {Shape{1, 1, 50000}, Shape{1, 3, 2, 9000}}) {
    EXPECT_EQ(storage_of(pool(shape, 25), StorageChoice::image2d, "x0"), Storage::buffer);
    EXPECT_EQ(storage_of(pool(shape, 25), StorageChoice::image2d, "y0"), Storage::image2d);
    EXPECT_EQ(storage_of(pool(shape, 25), StorageChoice::image3d, "x0"), Storage::buffer);
    EXPECT_EQ(storage_of(pool(shape, 200), StorageChoice::image3d, "y0"), Storage::image3d);
  }
  // Batches are side by side.
  EXPECT_EQ(storage_of(pool({16, 3, 2, 300}, 1), StorageChoice::image2d, "x0"), Storage::buffer);
}

// Columns of slices beside each other, where one column is too high.
TEST(WideTensors, AreFoldedWhereThatFits) {
  const OperatorCase high = conv({1, 40, 2000, 2}, {20, 40, 1, 1}, 1);
  EXPECT_EQ(storage_of(high, StorageChoice::image2d, "x0"), Storage::image2d);
  LoweringOptions options{.storage = StorageChoice::image2d, .inputs_to_channels4 = true};
  const Program program = lower(single_node_graph(high), DeviceCaps(), options);
  for (const VirtualTensor& tensor : program.tensors) {
    if (tensor.desc.storage != Storage::image2d || tensor.name != "x0") continue;
    EXPECT_EQ(tensor.desc.fold, 8u);
    EXPECT_EQ(tensor.desc.extent(), (Extent3{16, 4000, 1}));
  }
  // Rows alone are too many.
  EXPECT_EQ(storage_of(pool({1, 40, 5000, 2}, 1), StorageChoice::image2d, "x0"), Storage::buffer);
  OperatorCase higher = conv({1, 40, 8000, 2}, {20, 40, 1, 1}, 1);  // lavapipe's images are larger
  check_operator(higher);
}

TEST(WideTensors, Windows) {
  check_operator(pool({1, 1, 50000}, 25));
  check_operator(pool({1, 3, 2, 9000}, 3));
  check_operator(conv({1, 1, 50000}, {2, 1, 3}, 40));
  check_operator(conv({1, 3, 2, 9000}, {5, 3, 2, 3}, 3));
}

TEST(WideTensors, ElementsAndRows) {
  for (const Shape& shape : {Shape{1, 1, 50000}, Shape{1, 3, 1, 9000}}) {
    check_operator({.type = "Sigmoid", .inputs = {random_tensor(shape, 1)}});
    // One operand is an image where the other is none.
    Shape narrow(shape.size(), 1);
    check_operator({.type = "Add", .inputs = {random_tensor(shape, 1), random_tensor(narrow, 2)}});
    OperatorCase sum{.type = "ReduceMean", .inputs = {random_tensor(shape, 1)}};
    sum.attributes.set("axes", Ints{-1});
    check_operator(sum);
    OperatorCase softmax{.type = "Softmax", .inputs = {random_tensor(shape, 1)}};
    softmax.sweep.fp16_tolerance = 1e-3;
    check_operator(softmax);
  }
}

TEST(WideTensors, Movement) {
  OperatorCase concat{.type = "Concat",
                      .inputs = {random_tensor({1, 3, 1, 9000}, 1), random_tensor({1, 3, 1, 5}, 2)}};
  concat.attributes.set("axis", int64_t{3});
  check_operator(concat);
  OperatorCase turned{.type = "Transpose", .inputs = {random_tensor({1, 3, 2, 9000}, 1)}};
  turned.attributes.set("perm", Ints{0, 3, 1, 2});
  check_operator(turned);
}

}  // namespace wide_test
}  // namespace vellum::test
