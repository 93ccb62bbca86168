// A cached file is used only if it is whole and for this very shader, device and driver.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "platform/files.hpp"
#include "support/gpu_test.hpp"
#include "vulkan/cache_file.hpp"
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

// A module that the checks of the file let pass: its digest is right, because its writer computed it.
TEST_F(DiskCache, AModuleThatIsNotUsableIsCompiledAgain) {
  run_finds_shader();
  const fs::path path = file(".spv");
  const std::vector<std::byte> good = bytes_of(path);
  constexpr size_t kHeader = 80, kKey = 16;
  platform::Sha256Digest key;
  std::memcpy(key.data(), good.data() + kKey, key.size());
  const std::vector<uint32_t> empty_module{0x07230203, 0x00010300, 0, 1, 0};
  write_cache_file(path, key, std::as_bytes(std::span(empty_module)));
  EXPECT_EQ(bytes_of(path).size(), kHeader + 20);
  const auto context = open();
  EXPECT_EQ(test::run_scale(context, "5.0", 1, {1, 2, 3}), (std::vector<float>{6, 11, 16}));
  EXPECT_EQ(logged_messages_containing("compiled again"), 1u);
  EXPECT_EQ(bytes_of(path), good);
}

TEST_F(DiskCache, IsForThisUserAlone) {
#ifdef _WIN32
  GTEST_SKIP() << "Windows has access lists in place of these permissions";
#else
  const fs::path cache = folder_.path() / "new" / "cache";
  ContextOptions options = test::test_context_options();
  options.cache_folder = cache;
  const auto run = [&] {
    const auto context = Context::create(options);
    EXPECT_EQ(test::run_scale(context, "5.0", 1, {1}), (std::vector<float>{6}));
    return context->pipelines().shader_counts().found_on_disk;
  };
  EXPECT_EQ(run(), 0u);
  constexpr fs::perms others = fs::perms::group_all | fs::perms::others_all;
  for (const fs::path& made : {cache.parent_path(), cache, cache / "spirv"})
    EXPECT_EQ(fs::status(made).permissions() & others, fs::perms::none) << made;
  EXPECT_EQ(run(), 1u);
  size_t warnings = 0;
  for (const fs::path& open_to_others : {cache, cache / "spirv"}) {
    fs::permissions(open_to_others, fs::perms::owner_all | fs::perms::others_write);
    EXPECT_EQ(run(), 0u) << open_to_others;
    EXPECT_EQ(logged_messages_containing("other users can write to it"), ++warnings);
    fs::permissions(open_to_others, fs::perms::owner_all);
  }
  for (const auto& entry : fs::recursive_directory_iterator(cache))
    if (entry.is_regular_file()) fs::permissions(entry.path(), fs::perms::group_write, fs::perm_options::add);
  EXPECT_EQ(run(), 0u);
  EXPECT_EQ(logged_messages_containing("other users can write to it"), warnings + 2)
      << "the module and the pipelines";
#endif
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
