// The environment of a test: variables that are set for a while, drivers, sanitizers, and Wine.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace vellum::test {

// Sets a variable of this process, or removes it. The destructor restores its former value.
class EnvironmentVariable {
 public:
  EnvironmentVariable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    set(value);
  }
  ~EnvironmentVariable() { set(before_ ? before_->c_str() : nullptr); }
  EnvironmentVariable(const EnvironmentVariable&) = delete;
  EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;

  void set(const char* value) {
#ifdef _WIN32
    _putenv_s(name_, value ? value : "");
#else
    if (value)
      setenv(name_, value, 1);
    else
      unsetenv(name_);
#endif
  }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

// Whether the tests run on SwiftShader.
inline bool on_swiftshader() {
  const char* driver = std::getenv("VELLUM_TEST_DRIVER");
  return driver && std::string_view(driver) == "swiftshader";
}

// Whether VELLUM_TEST_FULL is set: tests then skip nothing to save time.
inline bool in_full() { return std::getenv("VELLUM_TEST_FULL") != nullptr; }

// Whether this program is built with a sanitizer, which itself takes memory of the process.
constexpr bool under_sanitizer() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return true;
#else
  return false;
#endif
#else
  return false;
#endif
}

// Whether VELLUM_TEST_WINE is set, which platforms/windows.sh does.
inline bool under_wine() { return std::getenv("VELLUM_TEST_WINE") != nullptr; }

// Whether devices are opened with Vulkan's validation layer: always, except under Wine, where programs find
// no layers.
inline bool with_validation() { return !under_wine(); }

}  // namespace vellum::test
