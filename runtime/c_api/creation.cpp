// Sessions that are made on a thread of their own, for C.
#include <chrono>
#include <memory>

#include "c_api/support.hpp"

struct vellum_session_creation {
  vellum::SessionCreation creation;
  bool profile = false;
};

using vellum::c_api::guarded;
using vellum::c_api::require;

vellum_status vellum_session_create_async(const vellum_device* device, const vellum_model* model,
                                          const vellum_session_options* options,
                                          vellum_session_creation** creation, vellum_error* error) {
  if (creation) *creation = nullptr;
  return guarded(error, [&] {
    require(device, "device");
    require(model, "model");
    require(creation, "creation");
    const vellum::SessionOptions session_options = vellum::c_api::session_options(options);
    auto made = std::make_unique<vellum_session_creation>();
    made->creation = vellum::Session::create_async(device->device, model->model, session_options);
    made->profile = session_options.profile;
    *creation = made.release();
  });
}

vellum_status vellum_session_creation_progress(const vellum_session_creation* creation, size_t* ready,
                                               size_t* total, vellum_error* error) {
  return guarded(error, [&] {
    require(creation, "creation");
    const vellum::CreationProgress progress = creation->creation.progress();
    if (ready) *ready = progress.ready;
    if (total) *total = progress.total;
  });
}

vellum_status vellum_session_creation_wait_for(const vellum_session_creation* creation, uint32_t milliseconds,
                                               int32_t* done, vellum_error* error) {
  return guarded(error, [&] {
    require(creation, "creation");
    require(done, "done");
    *done = creation->creation.wait_for(std::chrono::milliseconds(milliseconds));
  });
}

vellum_status vellum_session_creation_cancel(const vellum_session_creation* creation, vellum_error* error) {
  return guarded(error, [&] {
    require(creation, "creation");
    creation->creation.cancel();
  });
}

vellum_status vellum_session_creation_get(vellum_session_creation* creation, vellum_session** session,
                                          vellum_error* error) {
  if (session) *session = nullptr;
  return guarded(error, [&] {
    require(creation, "creation");
    require(session, "session");
    *session = new vellum_session(creation->creation.get(), creation->profile);
  });
}

void vellum_session_creation_destroy(vellum_session_creation* creation) { delete creation; }
