#include "selfcheck/movement_cases.hpp"

#include <string>

namespace vellum {
namespace {

using namespace selfcheck;
using Ints = std::vector<int64_t>;

SmallOperator strided_view(const std::string& name, Shape x, int64_t offset, Ints shape, Ints strides) {
  return small_operator("AsStrided, " + name, "AsStrided", {computed(std::move(x))},
                        {{"offset", offset}, {"shape", std::move(shape)}, {"strides", std::move(strides)}});
}

// Views of matrices and pictures, whose elements are whole texels or are not.
void add_strided_views(std::vector<SmallOperator>& list) {
  list.push_back(strided_view("rows to a picture", {31, 24}, 24 + 8, {1, 8, 5, 6}, {0, 1, 6 * 24, 24}));
  list.push_back(strided_view("columns to a picture", {31, 22}, 24, {1, 7, 5, 6}, {0, 1, 6 * 22, 22}));
  list.push_back(strided_view("rows to heads", {31, 24}, 24, {1, 3, 30, 8}, {0, 8, 24, 1}));
  list.push_back(strided_view("columns to heads", {31, 21}, 21, {1, 3, 30, 7}, {0, 7, 21, 1}));
  list.push_back(strided_view("a picture to rows", {1, 12, 5, 6}, 0, {1, 30, 12}, {0, 1, 30}));
  list.push_back(strided_view("a picture to heads", {1, 12, 5, 6}, 0, {1, 2, 30, 6}, {0, 6 * 30, 1, 30}));
  list.push_back(strided_view("a picture to a picture", {1, 12, 5, 6}, 0, {1, 30, 3, 4}, {0, 1, 120, 30}));
}

}  // namespace

void add_movement_operators(std::vector<SmallOperator>& list) {
  const HostTensor doubled = HostTensor::f32({4}, std::vector<float>{1, 1, 2, 2});
  for (const char* mode : {"nearest", "linear"}) {
    const Operand nothing{HostTensor::f32({0}, std::vector<float>{}), true};
    list.push_back(small_operator(std::string("Resize, ") + mode, "Resize",
                                  {computed({1, 6, 7, 5}), nothing, {doubled, true}},
                                  {{"mode", std::string(mode)}}));
  }
  list.push_back(small_operator("Concat", "Concat", {computed({1, 6, 7, 5}), computed({1, 3, 7, 5}, 2)},
                                {{"axis", int64_t{1}}}));
  list.push_back(
      small_operator("Concat of texels", "Concat",
                     {computed({1, 4, 7, 5}), computed({1, 8, 7, 5}, 2), computed({1, 6, 7, 5}, 3)},
                     {{"axis", int64_t{1}}}));
  list.push_back(small_operator("Concat of rows", "Concat",
                                {computed({1, 6, 7, 5}), computed({1, 6, 7, 3}, 2)}, {{"axis", int64_t{3}}}));
  list.push_back(small_operator("Concat of rank 5", "Concat",
                                {computed({1, 2, 3, 7, 5}), computed({1, 2, 2, 7, 5}, 2)},
                                {{"axis", int64_t{2}}}));
  list.push_back(small_operator(
      "Concat of columns", "Concat",
      {computed({5, 3}), computed({5, 2}, 2), computed({5, 6}, 3), computed({5, 1}, 4), computed({5, 4}, 5)},
      {{"axis", int64_t{1}}}));
  std::vector<Operand> rows;
  for (uint32_t i = 0; i < 8; ++i) rows.push_back(computed({3, 1 + i % 3, 4}, i + 1));
  list.push_back(small_operator("Concat of rows of texels", "Concat", rows, {{"axis", int64_t{1}}}));
  list.push_back(small_operator("Concat of texels of rank 5", "Concat",
                                {computed({1, 2, 3, 3, 4}), computed({1, 2, 2, 3, 4}, 2)},
                                {{"axis", int64_t{2}}}));
  list.push_back(small_operator("Gather of texels", "Gather", {computed({9, 12}), integers({3, 0, 8, 3})}));
  list.push_back(small_operator("Transpose of rank 5", "Transpose", {computed({1, 2, 3, 5, 7})},
                                {{"perm", Ints{0, 2, 1, 4, 3}}}));
  list.push_back(small_operator("Gather of channels", "Gather",
                                {computed({1, 10, 5, 7}), integers({3, 0, 8})}, {{"axis", int64_t{1}}}));
  list.push_back(small_operator("Tile", "Tile", {computed({1, 5, 4, 3}), integers({1, 2, 1, 3})}));
  list.push_back(small_operator("Trilu", "Trilu", {computed({2, 6, 7})}));
  list.push_back(
      small_operator("SpaceToDepth", "SpaceToDepth", {computed({1, 5, 6, 8})}, {{"blocksize", int64_t{2}}}));
  list.push_back(small_operator("Pad", "Pad", {computed({1, 6, 7, 5}), integers({0, 1, 1, 2, 0, 0, 2, 1})}));
  list.push_back(small_operator(
      "Slice", "Slice",
      {computed({1, 10, 9, 7}), integers({1, 2}), integers({9, 8}), integers({1, 2}), integers({2, 1})}));
  list.push_back(
      small_operator("Transpose", "Transpose", {computed({2, 9, 10, 3})}, {{"perm", Ints{0, 2, 1, 3}}}));
  list.push_back(small_operator("Transpose to NCHW", "Transpose", {computed({2, 5, 7, 6})},
                                {{"perm", Ints{0, 3, 1, 2}}}));
  list.push_back(small_operator("Transpose to NHWC", "Transpose", {computed({2, 6, 5, 7})},
                                {{"perm", Ints{0, 2, 3, 1}}}));
  list.push_back(small_operator("Pad, reflect", "Pad",
                                {computed({1, 6, 7, 5}), integers({0, 0, 1, 2, 0, 0, 2, 1})},
                                {{"mode", std::string("reflect")}}));
  list.push_back(small_operator("Gather", "Gather", {computed({9, 10}), integers({3, 0, 8, 3})}));
  list.push_back(
      small_operator("DepthToSpace", "DepthToSpace", {computed({1, 12, 5, 7})}, {{"blocksize", int64_t{2}}}));
  list.push_back(small_operator("Expand", "Expand", {computed({1, 6, 1, 5}), integers({2, 6, 4, 5})}));
  list.push_back(small_operator("GridSample of volumes", "GridSample",
                                {computed({1, 3, 4, 5, 6}), computed({1, 3, 4, 5, 3}, 2)}));
  list.push_back(small_operator("AveragePool of volumes", "AveragePool", {computed({1, 3, 5, 6, 7})},
                                {{"kernel_shape", Ints{2, 3, 3}}, {"strides", Ints{1, 2, 2}}}));
  list.push_back(
      small_operator("GridSample", "GridSample", {computed({1, 5, 8, 9}), computed({1, 6, 7, 2}, 2)}));
  add_strided_views(list);
}

}  // namespace vellum
