// Weights in the order in which they stream: in files that are mapped, or in memory.
#include <gtest/gtest.h>

#ifndef _WIN32
#include <sys/resource.h>

#include <csignal>
#endif

#include <filesystem>
#include <fstream>

#include "exec/packed_weights.hpp"
#include "kernels/framework/lowering.hpp"
#include "passes/passes.hpp"
#include "support/errors.hpp"
#include "support/onnx_builder.hpp"
#include "support/temp_folder.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

class PackedWeightsTest : public testing::Test {
 protected:
  // Two of 128 KiB: large enough for a file.
  static Program large_program() {
    OnnxModel model;
    model.input("x", {1, 256, 2, 2});
    for (const std::string i : {"1", "2"})
      model.initializer("w" + i, random_tensor({256, 256, 1, 1}, i[0]))
          .node("Conv", {i == "1" ? "x" : "y1", "w" + i}, {"y" + i}, {}, "conv" + i);
    return lower(optimise(model.output("y2").graph(), {}), DeviceCaps{}, {.storage = StorageChoice::buffer});
  }
  static std::vector<const VirtualTensor*> weights(const Program& program) {
    std::vector<const VirtualTensor*> weights;
    for (const TensorId id : weight_ids(program)) weights.push_back(&program.tensors[id]);
    return weights;
  }
  static void expect_packed(const std::vector<PackedWeight>& packed, const Program& program) {
    const auto expected = weights(program);
    ASSERT_EQ(packed.size(), expected.size());
    for (size_t i = 0; i < packed.size(); ++i) {
      const std::vector<std::byte> bytes = pack_weight(*expected[i]);
      EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), packed[i].bytes.begin(), packed[i].bytes.end()));
    }
  }
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "weights"))
      found.push_back(entry.path());
    return found;
  }
  PackedWeights in_files() {
    return PackedWeights({folder / "weights", 0}, {},
                         [this](LogLevel, std::string_view message) { log += message; });
  }

  TempFolder folder;
  std::string log;
};

TEST_F(PackedWeightsTest, AreWrittenOnceAndThenMapped) {
  const Program large = large_program();
  expect_packed(in_files().pack(weights(large)), large);
  ASSERT_EQ(files().size(), 2u);
  const auto written = std::filesystem::last_write_time(files().front());
  expect_packed(in_files().pack(weights(large)), large);
  EXPECT_EQ(std::filesystem::last_write_time(files().front()), written);
  EXPECT_EQ(log, "");
}

TEST_F(PackedWeightsTest, StayInMemoryWhereTheyAreFew) {
  const Program large = large_program();
  PackedWeights packed({folder / "weights", 1 << 20}, {}, {});
  expect_packed(packed.pack(weights(large)), large);
  EXPECT_FALSE(std::filesystem::exists(folder / "weights"));
}

TEST_F(PackedWeightsTest, AreMadeAgainWhereAFileIsDamagedOrLost) {
  const Program large = large_program();
  in_files().pack(weights(large));
  const auto found = files();
  {
    std::fstream file(found[0], std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(1000);
    file.put('x');
  }
  std::filesystem::resize_file(found[1], 5000);
  expect_packed(in_files().pack(weights(large)), large);
  EXPECT_NE(log.find("damaged"), std::string::npos);
  log.clear();
  expect_packed(in_files().pack(weights(large)), large);
  EXPECT_EQ(log, "");
  std::filesystem::rename(found[0], folder / "other");
  std::filesystem::rename(found[1], found[0]);
  std::filesystem::rename(folder / "other", found[1]);
  expect_packed(in_files().pack(weights(large)), large);
  EXPECT_NE(log.find("damaged"), std::string::npos) << "one is not what its name says";
  std::filesystem::remove_all(folder / "weights");
  expect_packed(in_files().pack(weights(large)), large);
  EXPECT_EQ(files().size(), 2u);
}

// Before the first byte is written.
TEST_F(PackedWeightsTest, SayHowMuchTheDiskLacks) {
  VirtualTensor huge;
  huge.name = "huge";
  huge.desc.shape = {int64_t{1} << 40};
  huge.desc.element = ElementType::f32;
  huge.desc.storage = Storage::buffer;
  huge.desc.layout = Layout::linear;
  huge.origin = {{PackingScheme::conv, {1}}, {random_tensor({4}, 1)}};
  const VirtualTensor* const all[] = {&huge};
  EXPECT_VELLUM_ERROR(in_files().pack(all), ErrorCode::io, "weights",
                      std::to_string((uint64_t{4} << 40) + 48), "are free");
  EXPECT_FALSE(std::filesystem::exists(folder / "weights"));
}

// As on a disk that fills up while they are written.
TEST_F(PackedWeightsTest, LeaveNothingWhereAWriteFails) {
#ifdef _WIN32
  GTEST_SKIP() << "Windows limits no file's size";
#else
  const Program large = large_program();
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 100'000;
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_VELLUM_ERROR(in_files().pack(weights(large)), ErrorCode::io, "weights", "disk may be full");
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_TRUE(files().empty());
  expect_packed(in_files().pack(weights(large)), large);
#endif
}

TEST_F(PackedWeightsTest, SayWhatIsWrongWhereTheFolderCannotBeWritten) {
  std::ofstream(folder / "weights") << "a file where the folder should be";
  const Program large = large_program();
  EXPECT_VELLUM_ERROR(in_files().pack(weights(large)), ErrorCode::io, "'conv1/weights'", "bytes");
}

}  // namespace
}  // namespace vellum::test
