// Memory pools, and vellum_session_trim(), for C.
#include "c_api/support.hpp"
#include "vellum/memory_pool.hpp"

using vellum::c_api::checked_choice;
using vellum::c_api::guarded;
using vellum::c_api::require;

static_assert(static_cast<int>(vellum::PoolOverlap::refuse) == VELLUM_POOL_REFUSE);
static_assert(static_cast<int>(vellum::TrimLevel::weights) == VELLUM_TRIM_WEIGHTS);

vellum_status vellum_memory_pool_create(const vellum_device* device, vellum_pool_overlap overlap,
                                        vellum_memory_pool** pool, vellum_error* error) {
  if (pool) *pool = nullptr;
  return guarded(error, [&] {
    require(device, "device");
    require(pool, "pool");
    const vellum::MemoryPoolOptions options{
        checked_choice<vellum::PoolOverlap>(overlap, VELLUM_POOL_REFUSE, "overlap")};
    *pool = new vellum_memory_pool{vellum::MemoryPool(device->device, options)};
  });
}

void vellum_memory_pool_destroy(vellum_memory_pool* pool) { delete pool; }

vellum_status vellum_memory_pool_bytes(const vellum_memory_pool* pool, uint64_t* bytes, vellum_error* error) {
  return guarded(error, [&] {
    require(pool, "pool");
    require(bytes, "bytes");
    *bytes = pool->pool.bytes();
  });
}

vellum_status vellum_memory_pool_trim(const vellum_memory_pool* pool, vellum_error* error) {
  return guarded(error, [&] {
    require(pool, "pool");
    pool->pool.trim();
  });
}

vellum_status vellum_session_trim(vellum_session* session, vellum_trim_level level, vellum_error* error) {
  return guarded(error, [&] {
    require(session, "session");
    session->drop_plan();
    session->session.trim(checked_choice<vellum::TrimLevel>(level, VELLUM_TRIM_WEIGHTS, "level"));
  });
}
