#include "graph/operators/matmul/real_fourier.hpp"

#include <algorithm>

#include "graph/composed.hpp"

namespace vellum {
namespace {

ValueId cut_or_padded(Body& body, ValueId x, const Ints& size) {
  const Shape shape = body.shape(x);
  const size_t rank = shape.size();
  Ints pads(2 * rank, 0);
  for (size_t i = 0; i < 2; ++i) {
    const size_t axis = rank - 2 + i;
    if (shape[axis] > size[i]) x = body.slice(x, static_cast<int64_t>(axis), 0, size[i]);
    pads[rank + axis] = std::max<int64_t>(size[i] - shape[axis], 0);
  }
  return body.add("Pad", {x, body.ints(pads)});
}

void real_fourier_body(Body& body) {
  ValueId x = body.input(0, "x");
  const Ints size = constant_ints(body.rule_inputs(), 1, "fft_length");
  Shape shape = body.shape(x);
  if (shape.size() < 2 || size.size() != 2 || size[0] < 1 || size[1] < 1)
    refuse_model("a transform of size " + to_string(size) + " of a tensor of shape " + to_string(shape));
  x = cut_or_padded(body, x, size);
  shape = body.shape(x);
  // One signal per batch: (batch, h, w, 1).
  const Shape signals{product(shape, 0, shape.size() - 2), size[0], size[1], 1};
  ValueId bins =
      body.add("DFT", {body.reshape(x, signals)}, {{"axis", int64_t{2}}, {"onesided", int64_t{1}}});
  if (size[0] > 1) bins = body.add("DFT", {bins}, {{"axis", int64_t{1}}});
  shape.back() = size[1] / 2 + 1;
  shape.push_back(2);
  body.output(body.reshape(bins, shape));
}

}  // namespace

std::shared_ptr<const Operator> real_fourier_2d() {
  const Attributes none;
  NodeSpec spec;
  spec.type = "RFFT2D";
  spec.attributes = &none;
  return composed(spec, real_fourier_body);
}

}  // namespace vellum
