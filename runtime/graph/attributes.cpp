#include "graph/attributes.hpp"

#include <sstream>

#include "vellum/error.hpp"

namespace vellum {

bool Attributes::has(std::string_view name) const { return values_.find(name) != values_.end(); }

const Attributes::Value* Attributes::find(std::string_view name) const {
  read_.insert(std::string(name));
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

namespace {

template <typename T>
const T* expect(const Attributes::Value* value, std::string_view name, const char* kind) {
  if (value == nullptr) return nullptr;
  const T* typed = std::get_if<T>(value);
  if (typed == nullptr) {
    throw Error(ErrorCode::corrupt_model, "attribute '" + std::string(name) + "' is not " + kind);
  }
  return typed;
}

}  // namespace

int64_t Attributes::get_int(std::string_view name, int64_t fallback) const {
  const auto* value = expect<int64_t>(find(name), name, "an integer");
  return value ? *value : fallback;
}

float Attributes::get_float(std::string_view name, float fallback) const {
  const auto* value = expect<float>(find(name), name, "a number");
  return value ? *value : fallback;
}

std::string Attributes::get_string(std::string_view name, std::string_view fallback) const {
  const auto* value = expect<std::string>(find(name), name, "a string");
  return value ? *value : std::string(fallback);
}

Attributes::Ints Attributes::get_ints(std::string_view name, Ints fallback) const {
  const auto* value = expect<Ints>(find(name), name, "a list of integers");
  if (value) return *value;
  return fallback;
}

Attributes::Floats Attributes::get_floats(std::string_view name, Floats fallback) const {
  const auto* value = expect<Floats>(find(name), name, "a list of numbers");
  if (value) return *value;
  return fallback;
}

Attributes::Strings Attributes::get_strings(std::string_view name, Strings fallback) const {
  const auto* value = expect<Strings>(find(name), name, "a list of strings");
  if (value) return *value;
  return fallback;
}

std::optional<HostTensor> Attributes::get_tensor(std::string_view name) const {
  const auto* value = expect<HostTensor>(find(name), name, "a tensor");
  return value ? std::optional(*value) : std::nullopt;
}

std::vector<std::string> Attributes::unread() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : values_) {
    if (!read_.contains(name)) names.push_back(name);
  }
  return names;
}

namespace {

struct Printer {
  std::ostringstream& out;
  void operator()(int64_t value) const { out << value; }
  void operator()(float value) const { out << value; }
  void operator()(const std::string& value) const { out << '"' << value << '"'; }
  void operator()(const HostTensor& value) const {
    out << name(value.dtype()) << ' ' << to_string(value.shape());
  }
  template <typename T>
  void operator()(const std::vector<T>& list) const {
    out << '[';
    for (size_t i = 0; i < list.size(); ++i) {
      if (i > 0) out << ',';
      (*this)(list[i]);
    }
    out << ']';
  }
};

}  // namespace

std::string to_string(const Attributes& attributes) {
  std::ostringstream out;
  for (const auto& [name, value] : attributes.values()) {
    if (out.tellp() > 0) out << ' ';
    out << name << '=';
    std::visit(Printer{out}, value);
  }
  return out.str();
}

}  // namespace vellum
