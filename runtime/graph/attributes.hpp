// Attributes of a node as a plain value, whatever file they came from.
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

  // Readers note that the attribute was understood (see unread()). A wrong kind throws Error(corrupt_model).
  int64_t get_int(std::string_view name, int64_t fallback) const;
  float get_float(std::string_view name, float fallback) const;
  std::string get_string(std::string_view name, std::string_view fallback) const;
  Ints get_ints(std::string_view name, Ints fallback = {}) const;
  Floats get_floats(std::string_view name, Floats fallback = {}) const;
  std::optional<HostTensor> get_tensor(std::string_view name) const;
  // An attribute that carries no meaning for inference (e.g. "momentum").
  void ignore(std::string_view name) const { read_.insert(std::string(name)); }

  // Names nobody has asked for: attributes that Vellum does not know.
  std::vector<std::string> unread() const;
  const std::map<std::string, Value, std::less<>>& values() const { return values_; }

 private:
  const Value* find(std::string_view name) const;
  std::map<std::string, Value, std::less<>> values_;
  mutable std::set<std::string, std::less<>> read_;
};

// "dilations=[1,1] group=1", in alphabetical order.
std::string to_string(const Attributes& attributes);

}  // namespace vellum
