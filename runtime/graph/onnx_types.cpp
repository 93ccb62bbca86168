#include "graph/onnx_types.hpp"

#include <string>

#include "graph/narrow_types.hpp"
#include "vellum/error.hpp"

namespace vellum {

namespace {

struct Row {
  int64_t number;
  DType dtype;
};

constexpr Row kRows[] = {{1, DType::f32},  {2, DType::u8},   {3, DType::i8},   {4, DType::u16},
                         {5, DType::i16},  {6, DType::i32},  {7, DType::i64},  {9, DType::boolean},
                         {10, DType::f16}, {11, DType::f64}, {12, DType::u32}, {13, DType::u64}};

}  // namespace

DType dtype_from_onnx(int64_t number) {
  for (const Row& row : kRows) {
    if (row.number == number) return row.dtype;
  }
  if (const NarrowType* narrow = find_narrow_type(number)) return narrow->stored;
  throw Error(ErrorCode::unsupported, "ONNX element type " + std::to_string(number) + " is not supported");
}

int64_t dtype_to_onnx(DType dtype) {
  for (const Row& row : kRows) {
    if (row.dtype == dtype) return row.number;
  }
  return 0;
}

}  // namespace vellum
