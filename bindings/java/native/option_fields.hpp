// Reads and writes the fields of Java's options that the rows of vellum/*_options.def and
// vellum/load_limits.def describe. One function per kind of option; session_options.def explains the kinds.
#pragma once

#include <jni.h>

#include <list>
#include <string>
#include <string_view>
#include <utility>

#include "support.hpp"

namespace vellum::jni {

// Java's name of an option: "search_ms" is searchMs, "max_image_2d" is maxImage2d.
inline std::string java_name(std::string_view name) {
  std::string text;
  bool begins_word = false;
  for (const char c : name) {
    if (c != '_') text += begins_word && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    begins_word = c == '_';
  }
  return text;
}

// Sets C options from the fields of a Java object. `texts` owns the strings that they point to.
class OptionReader {
 public:
  OptionReader(const JavaObject& java, std::list<std::string>& texts) : java_(java), texts_(texts) {}

  template <typename C>
  void flag(std::string_view name, C& to) const {
    to = java_.get_bool(java_name(name).c_str());
  }
  // Java's int and long are signed and C's options are unsigned: -1 becomes the largest number.
  template <typename C>
  void count(std::string_view name, C& to) const {
    if constexpr (sizeof(C) == sizeof(jlong))
      to = static_cast<C>(java_.get_long(java_name(name).c_str()));
    else
      to = static_cast<C>(java_.get_int(java_name(name).c_str()));
  }
  void bytes(std::string_view name, uint64_t& to) const { count(name, to); }
  void number(std::string_view name, float& to) const { to = java_.get_float(java_name(name).c_str()); }
  void number(std::string_view name, double& to) const { to = java_.get_double(java_name(name).c_str()); }
  template <typename Choice>
  void choice(std::string_view name, Choice& to) const {
    to = static_cast<Choice>(java_.get_int(java_name(name).c_str()));
  }
  void text(std::string_view name, const char*& to) const {
    bool is_null = false;
    std::string value = java_.get_string(java_name(name).c_str(), &is_null);
    if (!is_null) to = texts_.emplace_back(std::move(value)).c_str();
  }
  void folder(std::string_view name, const char*& to) const { text(name, to); }

 private:
  const JavaObject& java_;
  std::list<std::string>& texts_;
};

// Sets the fields of a Java object to the defaults of C. Texts are left alone: their default is null, which
// new fields already have.
class OptionWriter {
 public:
  explicit OptionWriter(JavaObject& java) : java_(java) {}

  template <typename C>
  void flag(std::string_view name, C value) {
    java_.set_bool(java_name(name).c_str(), value != 0);
  }
  template <typename C>
  void count(std::string_view name, C value) {
    if constexpr (sizeof(C) == sizeof(jlong))
      java_.set_long(java_name(name).c_str(), value);
    else
      java_.set_int(java_name(name).c_str(), static_cast<jint>(value));
  }
  void bytes(std::string_view name, uint64_t value) { count(name, value); }
  void number(std::string_view name, float value) { java_.set_float(java_name(name).c_str(), value); }
  void number(std::string_view name, double value) { java_.set_double(java_name(name).c_str(), value); }
  template <typename Choice>
  void choice(std::string_view name, Choice value) {
    java_.set_int(java_name(name).c_str(), static_cast<jint>(value));
  }
  void text(std::string_view, const char*) {}
  void folder(std::string_view, const char*) {}

 private:
  JavaObject& java_;
};

}  // namespace vellum::jni
