// Marks of what a driver is doing, which the next process finds if this one ended meanwhile.
#include "vulkan/crash_marks.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "support/temp_folder.hpp"
#include "vellum/kernel_check.hpp"

namespace vellum::test {
namespace {

// Another process that compiles at the same time is no crash.
TEST(CrashMarks, BelongToAProcessWhileItIsAlive) {
  const TempFolder folder;
  const DeviceCaps caps{.name = "device", .driver = "driver"};
  std::string log;
  const LogCallback keep = [&](LogLevel, std::string_view text) { log += text; };
  gpu::CrashMarks first;
  first.open(folder.path(), caps, keep);
  {
    const auto mark = first.begin({gpu::AttemptKind::pipeline, "id", "compiled it"});
    gpu::CrashMarks second;
    second.open(folder.path(), caps, keep);
    EXPECT_TRUE(second.crashes().empty());
  }
  EXPECT_EQ(log, "");
}

// A cooperative matrix query or product that a process did not survive; the caps of the device matter.
TEST(CrashMarks, AreReadByTheNextProcessOfTheSameDriver) {
  const TempFolder folder;
  DeviceCaps caps{.name = "device", .driver = "driver"};
  {
    gpu::CrashMarks survivor;
    survivor.open(folder.path(), caps, {});
    survivor.add_crash({gpu::AttemptKind::cooperative_product, "", "multiplied"});
  }
  gpu::CrashMarks next;
  next.open(folder.path(), caps, {});
  EXPECT_TRUE(next.has_crashed(gpu::AttemptKind::cooperative_product));
  EXPECT_FALSE(next.has_crashed(gpu::AttemptKind::cooperative_query));
  ++caps.driver_version;
  gpu::CrashMarks newer_driver;
  newer_driver.open(folder.path(), caps, {});
  EXPECT_TRUE(newer_driver.crashes().empty());
}

// A process that a signal ends on purpose: the attempt is under way on another thread.
TEST(CrashMarks, AreNotLeftByAProcessThatIsEndedOnPurpose) {
  const TempFolder folder;
  const DeviceCaps caps{.name = "device", .driver = "driver"};
  for (const bool on_purpose : {false, true}) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      gpu::CrashMarks marks;
      marks.open(folder.path(), caps, {});
      const auto mark = marks.begin({gpu::AttemptKind::pipeline, "id", "compiled it"});
      if (on_purpose) discard_attempts();
      const auto later = marks.begin({gpu::AttemptKind::pipeline, "later", "compiled another"});
      std::raise(SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    gpu::CrashMarks next;
    next.open(folder.path(), caps, {});
    EXPECT_EQ(next.crashes().size(), on_purpose ? 0u : 2u);
    next.forget();
  }
}

TEST(CrashMarks, NeedACacheFolder) {
  gpu::CrashMarks marks;
  marks.open({}, DeviceCaps{}, {});
  const auto mark = marks.begin({gpu::AttemptKind::pipeline, "id", "compiled it"});
  marks.add_crash({gpu::AttemptKind::pipeline, "id", "compiled it"});
  EXPECT_FALSE(marks.is_open());
  EXPECT_TRUE(marks.crashes().empty());
}

}  // namespace
}  // namespace vellum::test
