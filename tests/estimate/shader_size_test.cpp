#include "estimate/shader_size.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "vulkan/glslang_compiler.hpp"

namespace vellum {
namespace {

std::vector<uint32_t> spirv(const std::string& functions, const std::string& body) {
  const gpu::GlslangProcess glslang;
  const std::string source = R"(#version 450
#extension GL_EXT_control_flow_attributes : require
layout(local_size_x = 8) in;
layout(binding = 0) buffer Block { vec4 data[]; };
)" + functions + "\nvoid main() {\n  vec4 v = data[0];\n  float f = data[1].x;\n" +
                             body + "\n  data[0] = v * f;\n}\n";
  return gpu::compile_glsl("test.comp", source, "", [](std::string_view) { return std::nullopt; });
}

uint64_t operations(const std::string& body, const std::string& functions = "") {
  return unrolled_operations(spirv(functions, body));
}

// More than nothing between the load and the store.
uint64_t more(const std::string& body, const std::string& functions = "") {
  return operations(body, functions) - operations("");
}

TEST(ShaderSize, CountsTheComponentsOfVectors) {
  EXPECT_GT(operations(""), 0u);
  EXPECT_EQ(more("f = f * f + f;"), 2u);
  EXPECT_EQ(more("v = v * v + v;"), 8u);
}

TEST(ShaderSize, CountsBodiesOfUnrolledLoopsAsOftenAsTheyRun) {
  const auto loop = [](const std::string& hint, const std::string& loop_head) {
    return more("[[" + hint + "]] for (" + loop_head + ") v = v * v + v;");
  };
  const uint64_t once = loop("unroll", "int i = 0; i < 1; ++i");
  EXPECT_EQ(loop("unroll", "int i = 0; i < 5; ++i"), 5 * once);
  EXPECT_EQ(loop("unroll", "int i = 2; i <= 5; ++i"), 4 * once);
  EXPECT_EQ(loop("unroll", "uint i = 0u; i < 5u; i += 2u"), 3 * once);
  EXPECT_EQ(loop("dont_unroll", "int i = 0; i < 5; ++i"), once);
  EXPECT_EQ(loop("unroll", "int i = 0; i < int(f); ++i"), once + 1)
      << "and the conversion; runs are not known";
}

TEST(ShaderSize, CountsLoopsInLoopsAndWhatTheyCall) {
  const std::string twice = "float twice(float x) { return x + x; }";
  EXPECT_EQ(more("f = twice(f);", twice), 1u);
  const auto nest = [&](const char* outer, const char* inner) {
    return more(std::string("[[unroll]] for (int i = 0; i < ") + outer +
                    "; ++i)\n  [[unroll]] for (int j = 0; j < " + inner + "; ++j) f = twice(f);",
                twice);
  };
  EXPECT_EQ(nest("3", "4"), 3 * nest("1", "4"));
  EXPECT_GE(nest("3", "4"), 12u);
}

TEST(ShaderSize, IsNothingForDamagedWords) {
  EXPECT_EQ(unrolled_operations({}), 0u);
  std::vector<uint32_t> words = spirv("", "v = v * v;");
  const uint64_t whole = unrolled_operations(words);
  std::vector<uint32_t> other = words;
  other[0] ^= 1;
  EXPECT_EQ(unrolled_operations(other), 0u);
  other = words;
  other[5] &= 0xffff;  // an instruction of no words
  EXPECT_EQ(unrolled_operations(other), 0u);
  for (size_t size = 0; size < words.size(); ++size)
    EXPECT_LE(unrolled_operations(std::span(words).first(size)), whole);
}

TEST(ShaderSize, EndsWhereFunctionsCallEachOtherForever) {
  std::vector<uint32_t> words = spirv("float twice(float x) { return x + x; }", "f = twice(f);");
  uint32_t entry_point = 0;
  size_t calls = 0;
  for (size_t at = 5; at < words.size(); at += words[at] >> 16) {
    if ((words[at] & 0xffff) == 15) entry_point = words[at + 2];
    if ((words[at] & 0xffff) == 57) words[at + 3] = entry_point, ++calls;
  }
  EXPECT_EQ(calls, 1u);
  EXPECT_LT(unrolled_operations(words), 100u);
}

}  // namespace
}  // namespace vellum
