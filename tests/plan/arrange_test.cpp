// What of a plan can be switched off.
#include "plan/arrange.hpp"

#include <gtest/gtest.h>

#include "plan/programs.hpp"

namespace vellum::test {
namespace {

TEST(Arrange, NaiveStaysAsItIs) {
  Joined joined(64, 64);
  arrange(joined.make.program, {.mode = MemoryMode::naive}, kAlignment, tight_rules(kAlignment));
  EXPECT_EQ(joined.make.program.tasks.size(), 5u);
}

TEST(Arrange, EachWayCanBeSwitchedOff) {
  const ArrangeOptions off{MemoryMode::offsets, false, false, false};
  Joined joined(64, 64);
  arrange(joined.make.program, off, kAlignment, tight_rules(kAlignment));
  EXPECT_EQ(joined.make.program.tasks.size(), 5u);
  Chain chain;
  arrange(chain.make.program, off, kAlignment, tight_rules(kAlignment));
  EXPECT_EQ(planned(chain.make.program), 512u);
  Branches branches;
  arrange(branches.make.program, off, kAlignment, tight_rules(kAlignment));
  EXPECT_GE(planned(branches.make.program), 3200u);
}

}  // namespace
}  // namespace vellum::test
