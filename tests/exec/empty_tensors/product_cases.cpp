#include "operator_cases.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test::empty_tensors {
namespace {

HostTensor tenths(Shape shape) {
  const std::vector<float> values(static_cast<size_t>(element_count(shape)), 0.1f);
  return HostTensor::f32(std::move(shape), values);
}

}  // namespace

std::vector<Case> product_cases() {
  const auto equation = [](const char* text) { return attributes({{"equation", std::string(text)}}); };
  return {
      {"MatMul", {"m k", "k p"}},
      {"MatMul", {"b m k", "k p"}},
      {"MatMul", {"b m k", "b k p"}},
      {"MatMul", {"k", "k p"}},
      {"MatMul", {"i64: m k", "i64: k p"}},
      {"Gemm", {"m k", "k p"}},
      {"Gemm", {"m k", "k p", "p"}},
      {"Gemm", {"m k", "k p", "m p"}, attributes({{"beta", 0.5f}})},
      {"Conv", {"n c h w", "m c 2 2"}},
      {"Conv", {"n c h w", "m c 2 2", "m"}},
      {"ConvTranspose", {"n c h w", "c m 2 2", "m"}},
      {"DeformConv", {"n c 4 5", "m c 1 1", "n 2 4 5"}},
      {"CausalConvWithState", {"n c k", "c 1 2"}, {}, 2},
      {"RNN", {"t b i", "1 h i", "1 h h"}, {}, 2},
      {"RNN", {"t b i", "1 2 i", tenths({1, 2, 2})}, {}, 2},
      {"GRU", {"t b i", "1 6 i", tenths({1, 6, 2})}, {}, 2},
      {"LSTM", {"t b i", "1 8 i", tenths({1, 8, 2})}, {}, 3},
      {"RotaryEmbedding", {"n m k 4", "n k 2", "n k 2"}},
      {"Attention", {"n h q d", "n h k d", "n h k e"}},
      {"LinearAttention",
       {"n m 4", "n m 4", "n m 4"},
       attributes({{"q_num_heads", int64_t{2}},
                   {"kv_num_heads", int64_t{2}},
                   {"update_rule", std::string("linear")}}),
       2,
       27},
      {"FlexAttentionScores", {"n 4 q d", "n 2 k d"}},
      {"FlexAttentionValues", {"n 4 q k", "n 2 k d"}},
      {"Det", {"n c c"}},
      {"Einsum", {"i k", "k j"}, equation("ik,kj->ij")},
      {"Einsum", {"i j", "k"}, equation("ij,k->k")},
      {"Einsum", {"i j"}, equation("ij->j")},
      {"GridSample", {"n c h w", "n p q 2"}},
      {"RoiAlign", {"n c h w", "r 4", "i64: r"}},
      {"NonMaxSuppression", {"n b 4", "n c b", scalar(int64_t{2})}},
      {"MaxUnpool", {"n c h w", "i64: n c h w"}, attributes({{"kernel_shape", Attributes::Ints{2, 2}}})},
  };
}

}  // namespace vellum::test::empty_tensors
