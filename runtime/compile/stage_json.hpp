// The stages of compilation as JSON, for other programs to read; to_text() of compile.hpp is for people.
#pragma once

#include <string>

#include "compile/compile.hpp"

namespace vellum {

// Returns one JSON object. docs/tool.md lists its members.
std::string to_json(const CompiledModel& model, Stage stage);

}  // namespace vellum
