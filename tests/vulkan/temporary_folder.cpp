#include "vulkan/temporary_folder.hpp"

#include <random>
#include <string>

namespace vellum::test {

TemporaryFolder::TemporaryFolder() {
  std::random_device random;
  path_ = std::filesystem::temp_directory_path() /
          ("vellum_test_" + std::to_string(random()) + "_" + std::to_string(random()));
  std::filesystem::create_directories(path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace vellum::test
