// Memory that runs out while JSON is read or written is an exception, not the end of the process. This
// program has an operator new of its own.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>
#include <string>

#include "caps_file/caps_json.hpp"
#include "platform/json_value.hpp"
#include "support/environment.hpp"

namespace {

std::atomic<size_t> left = std::numeric_limits<size_t>::max();

}  // namespace

void* operator new(size_t bytes) {
  size_t now = left;
  while (now != std::numeric_limits<size_t>::max() && now > 0 && !left.compare_exchange_weak(now, now - 1))
    continue;
  void* const memory = now == 0 ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
// std::stable_sort uses it; a sanitizer's own would not fit the operator delete below.
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return operator new(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace vellum {
namespace {

// Calls work with ever more allocations that succeed, until it does. Returns how often it failed.
template <typename Work>
size_t failures_of(Work&& work) {
  for (size_t allocations = 0;; ++allocations) {
    left = allocations;
    try {
      work();
      left = std::numeric_limits<size_t>::max();
      return allocations;
    } catch (const std::bad_alloc&) {
      left = std::numeric_limits<size_t>::max();
    }
  }
}

TEST(JsonMemory, RunsOutWhileCapsAreReadAndWritten) {
  DeviceCaps caps;
  caps.name = "a device whose name is too long for the space within a string";
  const std::string text = to_json(caps);
  EXPECT_GT(failures_of([&] { to_json(caps); }), 50u);
  EXPECT_GT(failures_of([&] { caps_from_json(text, "test"); }), 50u);
}

TEST(JsonMemory, RunsOutInNestedListsAndObjects) {
  std::string text =
      R"({"a": [1, -2, 3.5, null, true, "a string that is too long for the space within"], "b": {}})";
  // Twice as long at each level, and read once for each of its allocations.
  const int levels = test::under_sanitizer() ? 6 : 8;
  for (int i = 0; i < levels; ++i) text = "[" + text + ", {\"key\": " + text + "}]";
  EXPECT_GT(failures_of([&] { EXPECT_TRUE(platform::JsonValue::parse(text).has_value()); }), 1u << levels);
}

TEST(JsonValue, IsReadAsItIsWritten) {
  const std::string text =
      "{\n  \"a\": [\n    1,\n    -2,\n    3.5,\n    null,\n    true,\n    \"x\\n\"\n  ],\n  \"b\": {}\n}";
  const auto value = platform::JsonValue::parse(text);
  ASSERT_TRUE(value.has_value());
  EXPECT_EQ(value->text(2), text);
  EXPECT_EQ(value->find("a")->array()->size(), 6u);
  EXPECT_EQ(*value->find("a")->array()->front().whole_number(), 1u);
  EXPECT_EQ(value->find("c"), nullptr);
}

TEST(JsonValue, OfAKeyThatOccursTwiceTheLastIsKept) {
  const auto value = platform::JsonValue::parse(R"({"b": 1, "a": 2, "b": 3})");
  ASSERT_TRUE(value.has_value());
  ASSERT_EQ(value->object()->size(), 2u);
  EXPECT_EQ(*value->find("b")->whole_number(), 3u);
}

TEST(JsonValue, RefusesWhatIsNoJsonOrNestedTooDeep) {
  for (const char* text : {"", "{", "[1,]", "{\"a\"}", "nul", "[1] 2"})
    EXPECT_FALSE(platform::JsonValue::parse(text).has_value()) << text;
  EXPECT_TRUE(platform::JsonValue::parse(std::string(32, '[') + std::string(32, ']')).has_value());
  EXPECT_FALSE(platform::JsonValue::parse(std::string(33, '[') + std::string(33, ']')).has_value());
  EXPECT_FALSE(platform::JsonValue::parse(std::string(1000000, '[')).has_value());
}

}  // namespace
}  // namespace vellum
