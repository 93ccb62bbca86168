// Converters of MediaPipe's pools with positions of maxima. https://github.com/google-ai-edge/mediapipe,
// util/tflite/operations/max_pool_argmax.cc, max_unpooling.cc
#include "graph/operators/movement/max_unpool.hpp"
#include "graph/operators/reduction/pool.hpp"
#include "import/tflite/call.hpp"

namespace vellum::tflite {
namespace {

// Their options begin with six 32-bit numbers.
struct PoolNumbers {
  int64_t padding, stride_w, stride_h, filter_w, filter_h, activation;
};

PoolNumbers read_pool(const Call& call) {
  const auto n = call.custom_numbers(6);
  const PoolNumbers numbers{n[0], n[1], n[2], n[3], n[4], n[5]};
  if (numbers.padding != 1 && numbers.padding != 2)
    refuse_model("padding " + std::to_string(numbers.padding) + " is unknown");
  constexpr int64_t kLargest = 1 << 15;
  for (const int64_t size : {numbers.stride_w, numbers.stride_h, numbers.filter_w, numbers.filter_h})
    if (size < 1 || size > kLargest) refuse_model("a stride or filter size is " + std::to_string(size));
  if (numbers.activation != 0) refuse_unsupported("a fused activation");
  return numbers;
}

}  // namespace

void convert_pool_with_argmax(const Call& call) {
  const PoolNumbers numbers = read_pool(call);
  auto pool = std::make_shared<Pool>();
  pool->window.kernel = {numbers.filter_h, numbers.filter_w};
  pool->window.strides = {numbers.stride_h, numbers.stride_w};
  pool->window.auto_pad = numbers.padding == 1 ? AutoPad::same_upper : AutoPad::valid;
  pool->with_indices = pool->window_indices = true;
  call.writer.add_node(std::move(pool), {call.writer.as_image(call.input(0))},
                       {call.writer.define(call.output(0), true), call.writer.define(call.output(1), true)});
}

void convert_max_unpooling(const Call& call) {
  const PoolNumbers numbers = read_pool(call);
  // Windows with strides larger than their size would have padding before them.
  if (numbers.stride_w > numbers.filter_w || numbers.stride_h > numbers.filter_h)
    refuse_unsupported("strides larger than the filter");
  auto unpool = std::make_shared<MaxUnpooling2d>();
  unpool->kernel[0] = numbers.filter_h;
  unpool->kernel[1] = numbers.filter_w;
  unpool->strides[0] = numbers.stride_h;
  unpool->strides[1] = numbers.stride_w;
  call.emit(std::move(unpool), {call.writer.as_image(call.input(0)), call.writer.as_image(call.input(1))},
            true);
}

}  // namespace vellum::tflite
