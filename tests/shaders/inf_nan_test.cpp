// Shaders that test for NaN and infinities declare SignedZeroInfNanPreserve on devices that have it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "included_files.hpp"
#include "shaders/sources.hpp"
#include "vulkan/glslang_compiler.hpp"

namespace vellum::test {
namespace {

bool depends_on_them(const std::string& file) {
  const std::string_view text = find_shader_source(file).value_or("");  // headers of C++ are not embedded
  for (const std::string_view word : {"is_nan(", "is_inf(", "INFINITY", "QUIET_NAN", "nan_where(", "logarithm("})
    if (text.find(word) != text.npos) return true;
  return false;
}

// A compiler may take isnan() and isinf() for false where nothing is declared.
TEST(InfNan, ShadersTestTheirBits) {
  const std::filesystem::path shaders =
      std::filesystem::path(std::getenv("VELLUM_TEST_SOURCE")).parent_path() / "shaders";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(shaders)) {
    const std::string_view text = find_shader_source(entry.path().filename().string()).value_or("");
    for (const std::string_view word : {"isnan(", "isinf("})
      EXPECT_EQ(text.find(word), text.npos) << entry.path();
  }
}

TEST(InfNan, ShadersThatDependOnThemIncludeTheDeclaration) {
  const std::filesystem::path shaders =
      std::filesystem::path(std::getenv("VELLUM_TEST_SOURCE")).parent_path() / "shaders";
  size_t dependent = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(shaders)) {
    if (entry.path().extension() != ".comp") continue;
    std::set<std::string> files;
    add_with_includes(entry.path().filename().string(), files);
    const bool depends = std::ranges::any_of(files, depends_on_them);
    dependent += depends;
    EXPECT_LE(depends, files.contains("inf_nan.glsl")) << entry.path();
  }
  EXPECT_GT(dependent, 10u);
}

TEST(InfNan, TheDeclarationIsAnExecutionModeOfTheEntryPoint) {
  const gpu::GlslangProcess glslang;
  const auto words = [](const std::string& preamble) {
    return gpu::compile_glsl("test.comp",
                             "#version 450\n#extension GL_GOOGLE_include_directive : require\n"
                             "#include \"inf_nan.glsl\"\nlayout(local_size_x = 1) in;\nvoid main() {}\n",
                             preamble, find_shader_source);
  };
  // OpExecutionMode %main SignedZeroInfNanPreserve 32: four words, of which the second is main's id.
  const auto declares = [](const std::vector<uint32_t>& module) {
    for (size_t i = 5; i + 3 < module.size(); i += module[i] >> 16)
      if (module[i] == (4u << 16 | 16) && module[i + 2] == 4461 && module[i + 3] == 32) return true;
    return false;
  };
  EXPECT_TRUE(declares(words("#define INF_NAN_PRESERVE 1\n")));
  EXPECT_FALSE(declares(words("")));
}

}  // namespace
}  // namespace vellum::test
