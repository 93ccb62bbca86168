// Inputs that must have one element type, as the specification of their operator says.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "import/import.hpp"
#include "passes/passes.hpp"
#include "support/errors.hpp"
#include "support/onnx_builder.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

struct TypeCase {
  std::string type;
  std::vector<Shape> shapes;  // of the inputs
  Attributes attributes = {};
};

// The model whose input `other`, a constant, is of `dtype`, and all others float32.
Graph model_with(const TypeCase& which, size_t other, DType dtype) {
  OnnxModel model;
  std::vector<std::string> names;
  const size_t given = other == 0 ? 1 : 0;
  for (size_t i = 0; i < which.shapes.size(); ++i) {
    names.push_back("input_" + std::to_string(i));
    const bool chooses = which.type == "Where" && i == 0;
    if (i == given || chooses)
      model.input(names[i], which.shapes[i], chooses ? DType::boolean : DType::f32);
    else
      model.initializer(names[i],
                        cast(random_tensor(which.shapes[i], 1, 0.5f, 1.5f), i == other ? dtype : DType::f32));
  }
  model.output("y").node(which.type, names, {"y"}, which.attributes);
  return optimise(import_model(as_bytes(model.bytes())), {});
}

const std::vector<TypeCase>& type_cases() {
  static const std::vector<TypeCase> list{
      {"Add", {{2, 3}, {3}}},
      {"Mul", {{2, 3}, {3}}},
      {"Sub", {{2, 3}, {2, 3}}},
      {"Div", {{2, 3}, {3}}},
      {"Max", {{2, 3}, {3}, {3}}},
      {"Min", {{2, 3}, {3}}},
      {"Sum", {{2, 3}, {3}, {2, 3}}},
      {"Mean", {{2, 3}, {3}}},
      {"Less", {{2, 3}, {3}}},
      {"Equal", {{2, 3}, {3}}},
      {"PRelu", {{2, 3}, {3}}},
      {"Where", {{2, 3}, {2, 3}, {3}}},
      {"Concat", {{2, 3}, {2, 3}}, attributes({{"axis", int64_t{0}}})},
      {"MatMul", {{2, 3}, {3, 4}}},
      {"Gemm", {{2, 3}, {3, 4}, {4}}},
      {"Einsum", {{2, 3}, {3, 4}}, attributes({{"equation", std::string("ij,jk->ik")}})},
      {"Clip", {{2, 3}, {}, {}}},
      {"Conv", {{1, 2, 4, 4}, {3, 2, 1, 1}, {3}}},
      {"ConvTranspose", {{1, 2, 4, 4}, {2, 3, 1, 1}, {3}}},
      {"InstanceNormalization", {{1, 2, 4, 4}, {2}, {2}}},
      {"LayerNormalization", {{2, 3}, {3}, {3}}}};
  return list;
}

TEST(SameTypes, AreDemandedWhereTheSpecificationDoes) {
  for (const TypeCase& which : type_cases()) {
    EXPECT_NO_THROW(model_with(which, 1, DType::f32)) << which.type;
    for (size_t other = which.type == "Where" ? 2 : 1; other < which.shapes.size(); ++other)
      for (const DType dtype : {DType::f64, DType::i64})
        EXPECT_VELLUM_ERROR(model_with(which, other, dtype), ErrorCode::corrupt_model, which.type,
                            name(dtype), "float32");
    // A first input of doubles would decide the type of the result.
    if (which.type != "Where") {
      EXPECT_VELLUM_ERROR(model_with(which, 0, DType::f64), ErrorCode::corrupt_model, which.type, "float64",
                          "float32");
    }
  }
}

}  // namespace
}  // namespace vellum::test
