#include "exec/kernels_key.hpp"

#include "caps_file/caps_json.hpp"
#include "platform/sha256.hpp"
#include "shaders/sources.hpp"
#include "vellum/vellum.h"

namespace vellum {

std::string kernels_key(const DeviceCaps& caps) {
  constexpr size_t kDigits = 32;
  platform::Sha256 hash;
  hash.add_string(to_json(caps)).add_string(std::to_string(VELLUM_VERSION)).add_string(shader_files_digest());
  return platform::to_hex(hash.finish()).substr(0, kDigits);
}

}  // namespace vellum
