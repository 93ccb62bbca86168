#include "vulkan/timestamps.hpp"

#include <chrono>
#include <limits>
#include <optional>
#include <thread>

#include "vulkan/commands.hpp"
#include "vulkan/context_impl.hpp"

namespace vellum::gpu {
namespace {

struct QueryResult {
  uint64_t ticks, available;
};

// With fewer valid bits the counter wraps around.
uint64_t valid_mask(uint32_t bits) { return bits >= 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1; }

}  // namespace

bool timestamps_supported(const Context& context) {
  return context.impl().physical.timestamp_bits > 0 && context.caps().timestamp_period_ns > 0;
}

struct TimestampQueries::Impl {
  std::shared_ptr<Context> context;
  uint32_t count = 0;
  vk::raii::QueryPool pool{nullptr};

  vk::Result query(std::vector<QueryResult>& results) const {
    const Context::Impl& owner = context->impl();
    return static_cast<vk::Result>(owner.device.getDispatcher()->vkGetQueryPoolResults(
        *owner.device, *pool, 0, count, results.size() * sizeof(QueryResult), results.data(),
        sizeof(QueryResult), VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT));
  }
};

TimestampQueries::TimestampQueries(std::shared_ptr<Context> context, uint32_t count) : impl_(new Impl) {
  if (!timestamps_supported(*context))
    throw Error(ErrorCode::unsupported, context->caps().name + " has no time stamps on its compute queue");
  const vk::QueryPoolCreateInfo info({}, vk::QueryType::eTimestamp, count);
  impl_->pool = translated("creating time stamp queries", [&] {
    return vk::raii::QueryPool(context->impl().device, info, context->impl().allocator());
  });
  impl_->context = std::move(context);
  impl_->count = count;
}

TimestampQueries::~TimestampQueries() = default;
TimestampQueries::TimestampQueries(TimestampQueries&&) noexcept = default;
TimestampQueries& TimestampQueries::operator=(TimestampQueries&&) noexcept = default;

uint32_t TimestampQueries::size() const { return impl_->count; }

void TimestampQueries::reset(CommandBuffer& commands) const {
  impl_->context->impl().device.getDispatcher()->vkCmdResetQueryPool(commands.handle(), *impl_->pool, 0,
                                                                     impl_->count);
}

void TimestampQueries::write(CommandBuffer& commands, uint32_t index, VkPipelineStageFlagBits stage) const {
  if (index >= impl_->count) throw Error(ErrorCode::internal, "a time stamp past the end of its queries");
  impl_->context->impl().device.getDispatcher()->vkCmdWriteTimestamp(commands.handle(), stage, *impl_->pool,
                                                                     index);
}

std::vector<double> TimestampQueries::read() const {
  std::vector<QueryResult> results(impl_->count);
  const Context::Impl& context = impl_->context->impl();
  vk::Result result = impl_->query(results);
  // Mali's drivers may answer that results are not ready after the fence of their submit is signalled. Those
  // of commands that never ran stay so.
  for (int tries = 0; result == vk::Result::eNotReady && tries < 10; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    result = impl_->query(results);
  }
  if (result != vk::Result::eSuccess && result != vk::Result::eNotReady)
    throw Error(result == vk::Result::eErrorDeviceLost ? ErrorCode::device_lost : ErrorCode::out_of_memory,
                "reading time stamps: Vulkan says " + vk::to_string(result));
  const uint64_t mask = valid_mask(context.physical.timestamp_bits);
  std::vector<double> nanoseconds(impl_->count, std::numeric_limits<double>::quiet_NaN());
  std::optional<uint64_t> first;
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].available == 0) continue;
    if (!first) first = results[i].ticks;
    nanoseconds[i] =
        static_cast<double>((results[i].ticks - *first) & mask) * double{context.caps.timestamp_period_ns};
  }
  return nanoseconds;
}

}  // namespace vellum::gpu
