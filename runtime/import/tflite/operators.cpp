// The table of converters, from operators.def.
#include "import/tflite/call.hpp"

namespace vellum::tflite {

// Several operators may share a converter; a function may be declared twice.
#define TFLITE_OPERATOR(number, name, converter) void converter(const Call& call);
#define TFLITE_CUSTOM(name, converter) void converter(const Call& call);
#include "import/tflite/operators.def"
#undef TFLITE_OPERATOR
#undef TFLITE_CUSTOM

Convert find_builtin(int32_t code, std::string& name) {
  switch (code) {
#define TFLITE_OPERATOR(number, operator_name, converter) \
  case number:                                            \
    name = #operator_name;                                \
    return converter;
#define TFLITE_CUSTOM(operator_name, converter)
#include "import/tflite/operators.def"
#undef TFLITE_OPERATOR
#undef TFLITE_CUSTOM
    default:
      name = "builtin operator " + std::to_string(code);
      return nullptr;
  }
}

Convert find_custom(const std::string& name) {
#define TFLITE_OPERATOR(number, operator_name, converter)
#define TFLITE_CUSTOM(operator_name, converter) \
  if (name == #operator_name) return converter;
#include "import/tflite/operators.def"
#undef TFLITE_OPERATOR
#undef TFLITE_CUSTOM
  return nullptr;
}

}  // namespace vellum::tflite
