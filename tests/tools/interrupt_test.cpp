// A signal that ends the tool is no crash of the driver.
#ifndef _WIN32
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "api/small_model.hpp"
#include "support/temp_folder.hpp"

extern char** environ;

namespace vellum::test {
namespace {

bool has_marks(const std::filesystem::path& folder) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().filename().string().starts_with("trying-")) return true;
  return false;
}

pid_t start_tool(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", 1 /* O_WRONLY */, 0);
  pid_t process = 0;
  const int result = posix_spawn(&process, VELLUM_TOOL, &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return result == 0 ? process : -1;
}

// The process ends by the signal, as it would without the tool's thread that waits for it.
TEST(Interrupts, LeaveNoMarks) {
  if (!std::string(VELLUM_TEST_EMULATOR).empty()) GTEST_SKIP() << "the tool runs in an emulator";
  const TempFolder folder;
  small_model().save(folder / "model.onnx");
  for (const int signal : {SIGINT, SIGTERM}) {
    const std::filesystem::path cache = folder / std::to_string(signal);
    const pid_t process = start_tool(
        {"vellum", "bench", (folder / "model.onnx").string(), "--seconds", "60", "--cache", cache.string()});
    ASSERT_GT(process, 0);
    for (int tries = 0; tries < 1000 && !has_marks(cache); ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_TRUE(has_marks(cache)) << "nothing was marked";
    ASSERT_EQ(kill(process, signal), 0);
    int status = 0;
    ASSERT_EQ(waitpid(process, &status, 0), process);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
    EXPECT_FALSE(has_marks(cache));
  }
}

}  // namespace
}  // namespace vellum::test
#endif
