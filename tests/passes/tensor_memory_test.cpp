// Limits of the memory of tensors that a thread allocates.
#include "graph/tensor_memory.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "graph/tensor.hpp"
#include "support/errors.hpp"

namespace vellum::test {
namespace {

HostTensor of_bytes(int64_t bytes) { return HostTensor(DType::u8, {bytes}); }

TEST(TensorMemoryLimit, CountsTensorsThatExist) {
  const TensorMemoryLimit limit(100);
  HostTensor first = of_bytes(60);
  EXPECT_VELLUM_ERROR(of_bytes(41), ErrorCode::unsupported, "41 bytes", "100 bytes", "folded_bytes");
  const HostTensor shared = first;  // of the same bytes
  EXPECT_NO_THROW(of_bytes(40));
  EXPECT_VELLUM_ERROR(first.mutable_data(), ErrorCode::unsupported, "60 bytes");
  first = HostTensor();
  EXPECT_VELLUM_ERROR(of_bytes(41), ErrorCode::unsupported, "41 bytes");
}

TEST(TensorMemoryLimit, HoldsForOneThreadUntilItsEnd) {
  std::optional<HostTensor> kept;
  {
    const TensorMemoryLimit outer(100);
    kept = of_bytes(80);
    {
      const TensorMemoryLimit inner(50);
      EXPECT_NO_THROW(of_bytes(50));
      const TensorMemoryLimit::Pause pause;
      EXPECT_NO_THROW(of_bytes(1000));
    }
    EXPECT_VELLUM_ERROR(of_bytes(50), ErrorCode::unsupported, "50 bytes");
    std::thread([] { EXPECT_NO_THROW(of_bytes(1000)); }).join();
  }
  EXPECT_NO_THROW(of_bytes(1000));
  kept.reset();
}

}  // namespace
}  // namespace vellum::test
