// The words of choices on the command line, in the order of their enumerators.
#pragma once

#include <string>
#include <vector>

#include "vellum/options.hpp"

namespace vellum::cli {

inline std::vector<std::string> choice_words(Precision) { return {"fp32", "fp16"}; }
inline std::vector<std::string> choice_words(Arithmetic) { return {"fp32", "fp16", "auto"}; }
inline std::vector<std::string> choice_words(StatePrecision) { return {"auto", "int8"}; }
inline std::vector<std::string> choice_words(StorageChoice) {
  return {"auto", "image2d", "image3d", "buffer"};
}
inline std::vector<std::string> choice_words(MemoryMode) { return {"shared-objects", "naive", "offsets"}; }
inline std::vector<std::string> choice_words(Winograd) { return {"auto", "off", "f2", "f4"}; }
inline std::vector<std::string> choice_words(SelfCheck) { return {"auto", "off", "on"}; }
inline std::vector<std::string> choice_words(GlobalPriority) {
  return {"unspecified", "low", "medium", "high", "realtime"};
}

template <typename Choice>
std::string choice_word(Choice choice) {
  return choice_words(choice).at(static_cast<size_t>(choice));
}

}  // namespace vellum::cli
