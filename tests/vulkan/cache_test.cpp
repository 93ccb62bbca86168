// What is on disk is believed only if it is whole and for this very shader, device and driver.
#include <gtest/gtest.h>

#include <fstream>

#include "platform/files.hpp"
#include "support/gpu_test.hpp"
#include "vulkan/kernel_run.hpp"
#include "vulkan/pipeline.hpp"
#include "vulkan/temporary_folder.hpp"

namespace vellum::gpu {
namespace {

namespace fs = std::filesystem;
using test::logged_messages_containing;

class DiskCache : public ::testing::Test {
 protected:
  std::shared_ptr<Context> open() const {
    ContextOptions options = test::test_context_options();
    options.cache_folder = folder_.path();
    return Context::create(options);
  }
  // Runs a kernel in a context of its own; true if its SPIR-V came from the disk.
  bool run_finds_shader() const {
    const auto context = open();
    const std::vector<float> y = test::run_scale(context, "5.0", 1, {1, 2, 3});
    EXPECT_EQ(y, (std::vector<float>{6, 11, 16}));
    const ShaderCounts counts = context->pipelines().shader_counts();
    EXPECT_EQ(counts.compiled + counts.found_on_disk, 1u);
    return counts.found_on_disk == 1;
  }
  fs::path file(const std::string& extension) const {
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path()))
      if (entry.path().extension() == extension) return entry.path();
    ADD_FAILURE() << "no file " << extension;
    return {};
  }
  static std::vector<std::byte> bytes_of(const fs::path& path) {
    return platform::read_file(path, 1 << 30).value();
  }

  test::TemporaryFolder folder_;
};

TEST_F(DiskCache, ShadersAreFoundTheSecondTime) {
  EXPECT_FALSE(run_finds_shader());
  EXPECT_TRUE(run_finds_shader());
  EXPECT_EQ(logged_messages_containing("made anew"), 0u);
}

TEST_F(DiskCache, NothingElseIsLeftBehind) {
  run_finds_shader();
  size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
    EXPECT_NE(entry.path().extension(), ".tmp") << entry.path();
    files += entry.is_regular_file();
  }
  EXPECT_EQ(files, 2u);  // SPIR-V and the pipeline cache
}

TEST_F(DiskCache, DamagedShadersAreDiscarded) {
  run_finds_shader();
  const std::vector<std::byte> good = bytes_of(file(".spv"));
  // In the magic, the version, the length, the key, the digest, and the SPIR-V.
  for (const size_t position :
       {size_t{0}, size_t{4}, size_t{8}, size_t{15}, size_t{20}, size_t{50}, good.size() - 1}) {
    std::vector<std::byte> bad = good;
    bad[position] ^= std::byte{1};
    platform::write_file_atomically(file(".spv"), bad);
    EXPECT_FALSE(run_finds_shader()) << "byte " << position;
    EXPECT_EQ(bytes_of(file(".spv")), good) << "made anew";
  }
  for (const size_t length : {size_t{0}, size_t{7}, size_t{80}, good.size() - 4, good.size() - 1}) {
    platform::write_file_atomically(file(".spv"), std::span(good).first(length));
    EXPECT_FALSE(run_finds_shader()) << "cut to " << length << " bytes";
  }
  EXPECT_EQ(logged_messages_containing("made anew"), 12u);
}

TEST_F(DiskCache, AShaderOfAnotherNameIsNotBelieved) {
  {
    const auto context = open();
    context->pipelines().get(test::scale_kernel("4.0"));
  }
  const std::vector<std::byte> other = bytes_of(file(".spv"));
  fs::remove_all(folder_.path());
  run_finds_shader();
  platform::write_file_atomically(file(".spv"), other);
  EXPECT_FALSE(run_finds_shader());
}

TEST_F(DiskCache, DamagedPipelineCachesAreDiscarded) {
  run_finds_shader();
  const std::vector<std::byte> good = bytes_of(file(".bin"));
  for (const size_t position : {size_t{0}, size_t{20}, size_t{80}, good.size() - 1}) {
    std::vector<std::byte> bad = good;
    bad[position] ^= std::byte{1};
    platform::write_file_atomically(file(".bin"), bad);
    EXPECT_TRUE(run_finds_shader());
    EXPECT_EQ(bytes_of(file(".bin")).size(), good.size());
    EXPECT_NE(bytes_of(file(".bin")), bad);
  }
  EXPECT_EQ(logged_messages_containing("made anew"), 4u);
}

TEST_F(DiskCache, AFolderThatCannotBeWrittenIsAWarningAndNoFailure) {
  // A file where the folder should be stops even root.
  std::ofstream(folder_.path() / "spirv") << "in the way";
  EXPECT_FALSE(run_finds_shader());
  EXPECT_EQ(logged_messages_containing("compiled again"), 1u);
}

}  // namespace
}  // namespace vellum::gpu
