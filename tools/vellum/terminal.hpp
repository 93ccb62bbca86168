#pragma once

namespace vellum::cli {

// Whether somebody watches stderr.
bool stderr_is_terminal();

}  // namespace vellum::cli
