#include "selfcheck/size_cases.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace vellum {
namespace {

using selfcheck::computed;
using selfcheck::weights;

constexpr uint64_t kLongLoop = 1000;
constexpr uint32_t kManyWorkgroups = 32768;

// Sums of thousands of products or elements.
std::vector<SmallOperator> with_long_loops() {
  std::vector<SmallOperator> list;
  list.push_back(small_operator("MatMul, long sums", "MatMul", {computed({9, 8192}), weights({8192, 20})}));
  list.push_back(small_operator("MatMul of computed matrices, long sums", "MatMul",
                                {computed({2, 9, 8192}), computed({2, 8192, 12}, 2)}));
  list.push_back(small_operator("Conv 1x1, long sums", "Conv",
                                {computed({1, 8192, 3, 4}), weights({20, 8192, 1, 1}), weights({20}, 3)}));
  list.push_back(small_operator("Conv 3x3, long sums", "Conv",
                                {computed({1, 1200, 4, 5}), weights({8, 1200, 3, 3}), weights({8}, 3)},
                                {{"pads", std::vector<int64_t>{1, 1, 1, 1}}}));
  list.push_back(small_operator("Softmax, long rows", "Softmax", {computed({3, 140000})}));
  list.push_back(
      small_operator("ReduceMax, long rows", "ReduceMax", {computed({3, 140000}), selfcheck::integers({1})}));
  list.push_back(small_operator("LayerNormalization, long rows", "LayerNormalization",
                                {computed({2, 140000}), weights({140000}), weights({140000}, 3)}));
  list.push_back(small_operator("GlobalAveragePool of large pictures", "GlobalAveragePool",
                                {computed({1, 8, 400, 360})}));
  return list;
}

// Rows that are a workgroup each, and elements in workgroups of 64 invocations of four.
std::vector<SmallOperator> with_many_workgroups(bool thorough) {
  constexpr int64_t kRows = 33000, kGroup = 64;
  const selfcheck::Operand last = selfcheck::integers({1});
  std::vector<SmallOperator> list;
  list.push_back(small_operator("CumSum of many rows", "CumSum", {computed({kRows, 8}), last}));
  list.push_back(small_operator("ArgMax of many rows", "ArgMax", {selfcheck::steps({kRows, 8})},
                                {{"axis", int64_t{1}}}));
  if (!thorough) return list;
  const selfcheck::Operand rows = computed({kRows, kGroup});
  list.push_back(small_operator("Softmax of many rows", "Softmax", {rows}));
  list.push_back(small_operator("LayerNormalization of many rows", "LayerNormalization",
                                {rows, weights({kGroup}), weights({kGroup}, 3)}));
  list.push_back(small_operator("ReduceMax of many rows", "ReduceMax", {rows, last}));
  list.push_back(
      small_operator("MatMul of many rows", "MatMul", {computed({kRows * 16, 4}), weights({4, 4})}));
  list.push_back(small_operator("Relu of many elements", "Relu", {computed({1, 4, kGroup * 8, kRows / 4})}));
  list.push_back(small_operator("Transpose of many elements", "Transpose", {computed({2 * kRows, 4, kGroup})},
                                {{"perm", std::vector<int64_t>{0, 2, 1}}}));
  return list;
}

// Pictures of three rows or columns.
std::vector<SmallOperator> with_large_images(const DeviceCaps& caps) {
  const int64_t most = caps.max_image_dimension_2d;
  std::vector<SmallOperator> list;
  for (const bool is_wide : {true, false}) {
    const Shape shape = is_wide ? Shape{1, 4, 3, most - 1} : Shape{1, 4, most - 1, 3};
    const std::string picture = is_wide ? " of a wide picture" : " of a high picture";
    list.push_back(small_operator("Relu" + picture, "Relu", {computed(shape)}));
    list.push_back(small_operator("Conv 1x1" + picture, "Conv", {computed(shape), weights({4, 4, 1, 1})}));
    list.push_back(small_operator("Conv 3x3" + picture, "Conv", {computed(shape), weights({4, 4, 3, 3})},
                                  {{"pads", std::vector<int64_t>{1, 1, 1, 1}}}));
    list.push_back(small_operator("Conv 3x3 depthwise" + picture, "Conv",
                                  {computed(shape), weights({4, 1, 3, 3})},
                                  {{"pads", std::vector<int64_t>{1, 1, 1, 1}}, {"group", int64_t{4}}}));
    list.push_back(small_operator(
        "MaxPool" + picture, "MaxPool", {computed(shape)},
        {{"kernel_shape", std::vector<int64_t>{3, 3}}, {"pads", std::vector<int64_t>{1, 1, 1, 1}}}));
    list.push_back(small_operator("Add" + picture, "Add", {computed(shape), computed(shape, 2)}));
  }
  return list;
}

bool binds_large_image(const Program& program, const Dispatch& dispatch, const DeviceCaps& caps) {
  return std::ranges::any_of(dispatch.bindings, [&](const Binding& binding) {
    const TensorDesc& desc = program.tensors[program.root(binding.tensor)].desc;
    if (desc.storage != Storage::image2d) return false;
    const Extent3 extent = desc.extent();
    return std::max(extent.width, extent.height) > caps.max_image_dimension_2d / 2;
  });
}

}  // namespace

const char* name(SizeClass size) {
  switch (size) {
    case SizeClass::long_loop:
      return "long loops";
    case SizeClass::many_workgroups:
      return "many workgroups";
    case SizeClass::large_image:
      break;
  }
  return "large images";
}

bool has_size(const Program& program, const Dispatch& dispatch, SizeClass size, const DeviceCaps& caps) {
  switch (size) {
    case SizeClass::long_loop:
      return dispatch.iterations > kLongLoop;
    case SizeClass::many_workgroups:
      return std::ranges::max(dispatch.workgroup_count) >= kManyWorkgroups;
    case SizeClass::large_image:
      break;
  }
  return binds_large_image(program, dispatch, caps);
}

std::vector<SmallOperator> sized_operators(SizeClass size, const DeviceCaps& caps, bool thorough) {
  switch (size) {
    case SizeClass::long_loop:
      return with_long_loops();
    case SizeClass::many_workgroups:
      return with_many_workgroups(thorough);
    case SizeClass::large_image:
      break;
  }
  return with_large_images(caps);
}

}  // namespace vellum
