// The delegate of an interpreter.
#pragma once

#include <memory>

#include "lite_api.hpp"
#include "running_part.hpp"

namespace vellum::lite {

// Returns a delegate, which `delete_delegate` frees. Several interpreters may use it one after the other.
TfLiteDelegate* make_delegate(const Device& device, const plugin::PluginOptions& options);
void delete_delegate(TfLiteDelegate* delegate) noexcept;

}  // namespace vellum::lite
