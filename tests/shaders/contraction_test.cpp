// A driver may compute a sum of a product in one step and round once (fused multiply-add), unless SPIR-V
// decorates both with NoContraction. Functions of two elements are decorated: x*y - y*x is zero on every
// device.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "shaders/sources.hpp"
#include "vulkan/glslang_compiler.hpp"

namespace vellum::test {
namespace {

struct Contractions {
  int forbidden = 0, allowed = 0;  // sums, differences and products of floats
};

// Counts OpFAdd, OpFSub and OpFMul of a module, whose second word is the id of the result.
Contractions contractions(const std::vector<uint32_t>& module) {
  constexpr uint32_t kDecorate = 71, kNoContraction = 42;
  const std::set<uint32_t> arithmetic{129, 131, 133};
  std::set<uint32_t> decorated;
  Contractions count;
  for (size_t i = 5; i < module.size(); i += module[i] >> 16) {
    const uint32_t opcode = module[i] & 0xffff;
    if (opcode == kDecorate && module[i + 2] == kNoContraction) decorated.insert(module[i + 1]);
    if (arithmetic.contains(opcode)) ++(decorated.contains(module[i + 2]) ? count.forbidden : count.allowed);
  }
  return count;
}

// The module of a shader whose main() is `body`, on vectors a to d, after `declarations`.
Contractions of_body(const std::string& declarations, const std::string& body) {
  const gpu::GlslangProcess glslang;
  return contractions(gpu::compile_glsl("test.comp",
                                        "#version 450\n#extension GL_GOOGLE_include_directive : require\n" +
                                            declarations +
                                            "layout(local_size_x = 1) in;\n"
                                            "layout(binding = 0) buffer Values { vec4 a, b, c, d; };\n"
                                            "void main() { " +
                                            body + " }\n",
                                        "", find_shader_source));
}

TEST(Contraction, FunctionsOfTwoElementsForbidIt) {
  const std::string binary = "#include \"binary.glsl\"\n";
  const int in_file = of_body(binary, "").allowed;
  for (const std::string body : {"d = Sub(Mul(a, b), Mul(b, a));", "d = Add(Mul(a, b), c);",
                                 "d = SquaredDifference(a, b);", "d = Add(PRelu(a, b), c);"}) {
    const Contractions count = of_body(binary, body);
    EXPECT_EQ(count.allowed, in_file) << body;
    EXPECT_GE(count.forbidden, 2) << body;
  }
  EXPECT_EQ(of_body(binary, "d = a * b - b * a;").allowed, in_file + 3);
}

TEST(Contraction, EpiloguesForbidIt) {
  for (const std::string epilogue : {"Add", "Sub", "SubFrom", "Mul", "PRelu"}) {
    const Contractions count = of_body("#define EPILOGUE " + epilogue +
                                           "\n#define CAT_(a, b) a##b\n#define CAT(a, b) CAT_(a, b)\n"
                                           "#define TENSOR_IN(name)\n#define LOWEST_HALF -65504.0\n"
                                           "bvec4 has_lowest_operand;\nvec4 stored;\n"
                                           "vec4 load_operand(ivec4 at) { return vec4(at); }\n"
                                           "void store_y(ivec4 at, vec4 v) { stored = v; }\n"
                                           "#include \"epilogue.glsl\"\n",
                                       "store_result(ivec4(0), vec4(1)); ");
    EXPECT_EQ(count.allowed, 0) << epilogue;
    EXPECT_EQ(count.forbidden, 1) << epilogue;
  }
}

}  // namespace
}  // namespace vellum::test
