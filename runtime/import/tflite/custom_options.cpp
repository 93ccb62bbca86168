// Reads FlexBuffers without FlatBuffers' library. Numbers that are written as strings are not read.
#define FLATBUFFERS_LOCALE_INDEPENDENT 0
#include "import/tflite/custom_options.hpp"

#include <flatbuffers/flexbuffers.h>

#include <cmath>

namespace vellum::tflite {
namespace {

flexbuffers::Reference option(const std::vector<uint8_t>& bytes, const char* name) {
  return flexbuffers::GetRoot(bytes.data(), bytes.size()).AsMap()[name];
}

}  // namespace

CustomOptions::CustomOptions(const Call& call) {
  // A copy, because the verifier needs an alignment that the file does not guarantee.
  if (const auto* bytes = call.op.custom_options()) bytes_.assign(bytes->begin(), bytes->end());
  // FlexBuffers end in the root's type and width.
  constexpr size_t kLongest = 1 << 16;
  std::vector<uint8_t> seen;  // without it the verifier reads what is shared once for each reference
  if (bytes_.size() < 3 || bytes_.size() > kLongest ||
      !flexbuffers::VerifyBuffer(bytes_.data(), bytes_.size(), &seen)) {
    refuse_model("its options are missing or damaged");
  }
  if (!flexbuffers::GetRoot(bytes_.data(), bytes_.size()).IsMap()) refuse_model("its options are no map");
}

bool CustomOptions::has(const char* name) const { return !option(bytes_, name).IsNull(); }

int64_t CustomOptions::integer(const char* name) const {
  const auto value = option(bytes_, name);
  if (!value.IsIntOrUint()) refuse_model("option " + std::string(name) + " is missing or no integer");
  return value.AsInt64();
}

int64_t CustomOptions::integer(const char* name, int64_t least, int64_t most) const {
  const int64_t value = integer(name);
  if (value < least || value > most) {
    refuse_model("option " + std::string(name) + " is " + std::to_string(value));
  }
  return value;
}

bool CustomOptions::flag(const char* name) const {
  const auto value = option(bytes_, name);
  if (!value.IsBool() && !value.IsIntOrUint()) {
    refuse_model("option " + std::string(name) + " is missing or no boolean");
  }
  return value.AsBool();
}

float CustomOptions::number(const char* name) const {
  const auto value = option(bytes_, name);
  if (!value.IsNumeric() || !std::isfinite(value.AsFloat())) {
    refuse_model("option " + std::string(name) + " is missing or no finite number");
  }
  return value.AsFloat();
}

Ints CustomOptions::integers(const char* name) const {
  const auto value = option(bytes_, name);
  const auto type = value.GetType();
  if (type != flexbuffers::FBT_VECTOR_INT && type != flexbuffers::FBT_VECTOR_UINT) {
    refuse_model("option " + std::string(name) + " is missing or no list of integers");
  }
  const auto list = value.AsTypedVector();
  Ints result;
  for (size_t i = 0; i < list.size(); ++i) result.push_back(list[i].AsInt64());
  return result;
}

}  // namespace vellum::tflite
