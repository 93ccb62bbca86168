// The table of converters, from operators.def.
#include "import/tflite/call.hpp"

namespace vellum::tflite {

// Several operators may share a converter; a function may be declared twice.
#define TFLITE_OPERATOR(number, name, converter) void converter(const Call& call);
#define TFLITE_CUSTOM(name, converter) void converter(const Call& call);
#include "import/tflite/operators.def"
#undef TFLITE_OPERATOR
#undef TFLITE_CUSTOM

namespace {

struct UnsupportedRow {
  int32_t number;
  const char* name;
};

// The names of the operators that operators.def lacks, for messages.
constexpr UnsupportedRow kUnsupported[] = {
    {10, "HASHTABLE_LOOKUP"},
    {15, "LSH_PROJECTION"},
    {16, "LSTM"},
    {29, "CONCAT_EMBEDDINGS"},
    {30, "SKIP_GRAM"},
    {31, "CALL"},
    {33, "EMBEDDING_LOOKUP_SPARSE"},
    {46, "BIDIRECTIONAL_SEQUENCE_RNN"},
    {51, "DELEGATE"},
    {52, "BIDIRECTIONAL_SEQUENCE_LSTM"},
    {136, "HASHTABLE"},
    {137, "HASHTABLE_FIND"},
    {138, "HASHTABLE_IMPORT"},
    {139, "HASHTABLE_SIZE"},
    {146, "RANDOM_STANDARD_NORMAL"},
    {147, "BUCKETIZE"},
    {148, "RANDOM_UNIFORM"},
    {149, "MULTINOMIAL"},
    {159, "BITCAST"},
    {203, "DILATE"},
};

std::string name_of_unsupported(int32_t code) {
  for (const UnsupportedRow& row : kUnsupported)
    if (row.number == code) return row.name;
  return "builtin operator " + std::to_string(code);
}

}  // namespace

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
      name = name_of_unsupported(code);
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
