#include "graph/operators/matmul/heads.hpp"

#include <numeric>
#include <string>

namespace vellum {

ValueId split_heads(Body& body, ValueId x, int64_t heads, std::string_view what) {
  const Shape shape = body.shape(x);
  if (shape.size() != 3 || heads <= 0 || shape[2] % heads != 0)
    refuse_model(std::string(what) + " of shape " + to_string(shape) + " has no " + std::to_string(heads) +
                 " heads");
  return body.transpose(body.reshape(x, {shape[0], shape[1], heads, shape[2] / heads}), {0, 2, 1, 3});
}

ValueId join_heads(Body& body, ValueId x) {
  const Shape shape = body.shape(x);
  return body.reshape(body.transpose(x, {0, 2, 1, 3}), {shape[0], shape[2], shape[1] * shape[3]});
}

StridedView dense_view(const Body& body, ValueId x) {
  const Shape shape = body.shape(x);
  return {0, shape, row_major_strides(shape)};
}

ValueId counted(Body& body, const Shape& shape, int64_t first) {
  Ints values(Body::table_size(shape));
  std::iota(values.begin(), values.end(), first);
  return body.constant(HostTensor::i64(shape, values));
}

}  // namespace vellum
