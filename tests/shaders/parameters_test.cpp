// Each declaration of shader parameters (shaders/*/*.h) means the same in GLSL and in C++.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "program/parameters.hpp"
#include "shaders/movement/strided_copy.h"
#include "shaders/parameter_fields.hpp"
#include "shaders/sources.hpp"
#include "vellum/error.hpp"
#include "vulkan/glslang_compiler.hpp"

namespace vellum::test {
namespace {

using Field = gpu::SpirvInterface::Field;

std::string describe(const std::vector<Field>& fields) {
  std::string text;
  for (const Field& field : fields)
    text += std::to_string(field.offset) + ": " + field.type + " " + field.name + "\n";
  return text;
}

gpu::SpirvInterface compiled_interface(const std::string& body) {
  const std::string source =
      "#version 450\n#extension GL_GOOGLE_include_directive : require\n"
      "layout(local_size_x = 1) in;\n" + body;
  return gpu::read_spirv_interface(gpu::compile_glsl("test.comp", source, "", find_shader_source));
}

TEST(ShaderParameters, NamesTypesAndOffsetsAreEqualInGlslAndCpp) {
  const gpu::GlslangProcess glslang;
  const std::vector<DeclaredParameters> all = declared_parameters();
  EXPECT_GT(all.size(), 50u);
  for (const DeclaredParameters& declared : all) {
    const gpu::SpirvInterface compiled =
        compiled_interface("#include \"" + declared.header + "\"\nvoid main() {}\n");
    EXPECT_EQ(compiled.parameter_block, declared.block) << declared.header;
    EXPECT_EQ(describe(compiled.fields), describe(declared.fields)) << declared.header;
  }
}

// A block holds no conditional fields, so that it is the same in each variant of a shader.
TEST(ShaderParameters, BlocksAreTheSameInAllVariants) {
  std::set<std::string> blocks;
  for (const DeclaredParameters& declared : declared_parameters()) {
    EXPECT_EQ(find_shader_source(declared.header)->find("#if"), std::string_view::npos) << declared.header;
    EXPECT_TRUE(blocks.insert(declared.block).second) << declared.block << " is declared twice";
  }
}

TEST(SpirvInterface, ListsFieldsAndBindings) {
  const gpu::GlslangProcess glslang;
  const gpu::SpirvInterface found = compiled_interface(R"(
layout(push_constant) uniform Block { vec4 a; ivec2 b; int c[3]; float d; };
layout(set = 0, binding = 2, rgba32f) uniform image2D image;
layout(set = 0, binding = 0, std430) buffer Data { uint words[]; };
void main() { words[c[0]] = uint(d + a.x) + uint(b.x); imageStore(image, b, a); }
)");
  EXPECT_EQ(found.parameter_block, "Block");
  const std::vector<Field> fields{
      {"vec4", "a", 0}, {"ivec2", "b", 16}, {"int[3]", "c", 24}, {"float", "d", 36}};
  EXPECT_EQ(describe(found.fields), describe(fields));
  EXPECT_EQ(found.bindings, (std::vector<uint32_t>{0, 2}));
}

TEST(SpirvInterface, RefusesAModuleThatEndsWithinAnInstruction) {
  const std::vector<uint32_t> words{0x07230203, 0x10300, 0, 1, 0, 4u << 16 | 5u, 1};
  EXPECT_THROW(gpu::read_spirv_interface(words), Error);
}

TEST(Parameters, RefuseNumbersBeyond32Bits) {
  EXPECT_NO_THROW(int32(int64_t{INT32_MAX}));
  try {
    const int32 field(int64_t{INT32_MAX} + 1);
    FAIL() << "2^31 fits";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_STREQ(error.what(), "a kernel parameter of 2147483648 exceeds 32 bits");
  }
}

TEST(Parameters, HoldTheBytesOfTheirFieldsAndTheNameOfTheirBlock) {
  const std::vector<int64_t> dims{2, 3}, strides{3, 1};
  const Parameters parameters =
      StridedCopyParameters{.count = 6, .rank = dims.size(), .base = -1, .dims = dims, .strides = strides};
  EXPECT_EQ(parameters.block(), "StridedCopyParameters");
  std::vector<int32_t> words(parameters.bytes().size() / 4);
  std::memcpy(words.data(), parameters.bytes().data(), parameters.bytes().size());
  std::vector<int32_t> expected(27, 0);
  std::ranges::copy(std::vector<int32_t>{6, 2, -1, 2, 3}, expected.begin());
  std::ranges::copy(std::vector<int32_t>{3, 1}, expected.begin() + 15);
  EXPECT_EQ(words, expected);
}

TEST(Parameters, RefuseMoreNumbersThanAnArrayHolds) {
  EXPECT_THROW(IntArray<2>(std::vector<int64_t>{1, 2, 3}), Error);
}

}  // namespace
}  // namespace vellum::test
