#include "operator_cases.hpp"
#include "support/onnx_builder.hpp"

namespace vellum::test::empty_tensors {

std::vector<Case> generator_cases() {
  return {
      {"AffineGrid", {"n 2 3", ints({1, 1, 2, 2})}},
      {"OneHot", {"i64: n c", scalar(int64_t{3}), floats({0, 1})}},
      {"OneHot", {"i64: n c", scalar(int64_t{0}), floats({0, 1})}},
      {"HannWindow", {scalar(int64_t{3})}},
      {"HammingWindow", {scalar(int64_t{3})}},
      {"BlackmanWindow", {scalar(int64_t{0})}},
      {"MelWeightMatrix",
       {scalar(int64_t{2}), scalar(int64_t{16}), scalar(int64_t{8192}), scalar(0.0f), scalar(4096.0f)}},
      {"RandomUniform", {}, attributes({{"shape", Attributes::Ints{2, 0}}, {"seed", 1.0f}})},
      {"RandomNormal", {}, attributes({{"shape", Attributes::Ints{1, 3}}, {"seed", 1.0f}})},
      {"RandomUniformLike", {"n c"}, attributes({{"seed", 1.0f}})},
      {"RandomNormalLike", {"n c"}, attributes({{"seed", 1.0f}})},
      {"Bernoulli", {"n c"}, attributes({{"seed", 1.0f}})},
      {"Multinomial", {"n 3"}, attributes({{"seed", 1.0f}, {"sample_size", int64_t{2}}})},
      {"Shape", {"n c"}},
      {"Size", {"n c"}},
      {"ConstantOfShape", {ints({0, 3})}},
      {"Range", {scalar(1.0f), scalar(1.0f), scalar(1.0f)}},
      {"EyeLike", {"n c"}},
  };
}

}  // namespace vellum::test::empty_tensors
