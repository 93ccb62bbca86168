// Attributes of a node as a plain value, independent of the file format. Reading an attribute marks it, so
// that a model with an attribute that Vellum does not know can be refused.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "graph/tensor.hpp"

namespace vellum {

class Attributes {
 public:
  using Ints = std::vector<int64_t>;
  using Floats = std::vector<float>;
  using Strings = std::vector<std::string>;
  using Value = std::variant<int64_t, float, std::string, Ints, Floats, Strings, HostTensor>;

  void set(std::string name, Value value) { values_[std::move(name)] = std::move(value); }
  bool has(std::string_view name) const;

  // Readers. Each returns the attribute's value, or `fallback` without it, and marks it as read (see
  // unread()). An attribute of another kind throws Error(corrupt_model).
  int64_t get_int(std::string_view name, int64_t fallback) const;
  float get_float(std::string_view name, float fallback) const;
  std::string get_string(std::string_view name, std::string_view fallback) const;
  Ints get_ints(std::string_view name, Ints fallback = {}) const;
  Floats get_floats(std::string_view name, Floats fallback = {}) const;
  Strings get_strings(std::string_view name, Strings fallback = {}) const;
  std::optional<HostTensor> get_tensor(std::string_view name) const;
  // Marks an attribute as read that has no meaning for inference (e.g. "momentum").
  void ignore(std::string_view name) const { read_.insert(std::string(name)); }

  // Returns the attributes that were not read: those that Vellum does not know.
  std::vector<std::string> unread() const;
  const std::map<std::string, Value, std::less<>>& values() const { return values_; }

 private:
  const Value* find(std::string_view name) const;
  std::map<std::string, Value, std::less<>> values_;
  mutable std::set<std::string, std::less<>> read_;
};

// Formats attributes in alphabetical order: "dilations=[1,1] group=1".
std::string to_string(const Attributes& attributes);

}  // namespace vellum
