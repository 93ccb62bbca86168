// Versions, errors and text, for C.
#include <algorithm>
#include <cstring>

#include "c_api/support.hpp"

namespace {

using vellum::ErrorCode;

static_assert(static_cast<int>(ErrorCode::invalid_argument) + 1 == VELLUM_INVALID_ARGUMENT);
static_assert(static_cast<int>(ErrorCode::corrupt_model) + 1 == VELLUM_CORRUPT_MODEL);
static_assert(static_cast<int>(ErrorCode::internal) + 1 == VELLUM_INTERNAL);
static_assert(static_cast<int>(ErrorCode::cancelled) + 1 == VELLUM_CANCELLED);

}  // namespace

vellum_status vellum::c_api::fail(vellum_error* error, ErrorCode code, const char* message) noexcept {
  const auto status = static_cast<vellum_status>(static_cast<int>(code) + 1);
  if (!error) return status;
  error->status = status;
  size_t length = std::min(std::strlen(message), size_t{VELLUM_MESSAGE_BYTES - 1});
  // Where the message is cut, not inside a UTF-8 sequence: its continuation bytes are 10xxxxxx.
  if (message[length])
    while (length > 0 && (static_cast<unsigned char>(message[length]) & 0xc0) == 0x80) --length;
  std::memcpy(error->message, message, length);
  error->message[length] = 0;
  return status;
}

uint32_t vellum_version(void) { return VELLUM_VERSION; }

const char* vellum_status_text(vellum_status status) {
  return status == VELLUM_OK ? "ok" : vellum::to_string(static_cast<ErrorCode>(static_cast<int>(status) - 1));
}

const char* vellum_text_data(const vellum_text* text) { return text ? text->text.c_str() : ""; }

size_t vellum_text_size(const vellum_text* text) { return text ? text->text.size() : 0; }

void vellum_text_destroy(vellum_text* text) { delete text; }
