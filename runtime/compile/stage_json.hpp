// The stages between model and session as JSON: what compile.hpp's to_text() prints, for programs.
#pragma once

#include <string>

#include "compile/compile.hpp"

namespace vellum {

// Returns one object. Its members are those of docs/tool.md.
std::string to_json(const CompiledModel& model, Stage stage);

}  // namespace vellum
