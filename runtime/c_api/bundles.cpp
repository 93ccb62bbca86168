// Bundles, for C.
#include <span>
#include <vector>

#include "c_api/support.hpp"
#include "platform/utf8_path.hpp"
#include "vellum/pack.hpp"
#include "vellum/vellum_picture.h"

using vellum::c_api::guarded;
using vellum::c_api::require;
using vellum::platform::utf8_path;

namespace {

std::vector<vellum::PackFrame> pack_frames(const vellum_bundle_frame* frames, size_t count) {
  if (count) require(frames, "frames");
  std::vector<vellum::PackFrame> taken;
  for (size_t i = 0; i < count; ++i) {
    require(frames[i].input, "the input of a frame");
    taken.push_back({frames[i].input, vellum::c_api::frame_input(frames[i].frame)});
  }
  return taken;
}

std::vector<vellum::PackPicture> pack_pictures(const vellum_bundle_picture* pictures, size_t count) {
  if (count) require(pictures, "pictures");
  std::vector<vellum::PackPicture> taken;
  for (size_t i = 0; i < count; ++i) {
    require(pictures[i].output, "the output of a picture");
    taken.push_back({pictures[i].output, vellum::c_api::picture_output(pictures[i].picture)});
  }
  return taken;
}

vellum_bundle_variants variants_defaults() noexcept {
  vellum_bundle_variants variants{};
  variants.size = sizeof variants;
  return variants;
}

vellum_bundle_variants variants_of(const vellum_bundle_frame* frames, size_t frame_count,
                                   const vellum_bundle_picture* pictures, size_t picture_count) {
  vellum_bundle_variants variants = variants_defaults();
  variants.frames = frames;
  variants.frame_count = frame_count;
  variants.pictures = pictures;
  variants.picture_count = picture_count;
  return variants;
}

// Calls `pack` with the variants, which it may use until it returns.
template <typename Pack>
vellum::PackSummary pack_variants(const vellum_bundle_variants* c_variants, Pack&& pack) {
  const vellum_bundle_variants variants = vellum::c_api::given_or_default(c_variants, variants_defaults());
  const std::vector<vellum::PackFrame> frames = pack_frames(variants.frames, variants.frame_count);
  const std::vector<vellum::PackPicture> pictures = pack_pictures(variants.pictures, variants.picture_count);
  return pack(vellum::PackVariants{frames, pictures, variants.images != 0,
                                   variants.signature ? variants.signature : ""});
}

void write_summary(const vellum::PackSummary& made, vellum_bundle_summary* summary) {
  if (summary)
    vellum::c_api::write_result(summary, {0, made.shaders, made.weights, made.weights_bytes, made.file_bytes},
                                "summary");
}

}  // namespace

vellum_status vellum_write_bundle(const char* model, const char* file, const vellum_device* device,
                                  const char* caps, const vellum_session_options* options,
                                  vellum_bundle_summary* summary, vellum_error* error) {
  return vellum_write_bundle_with_frames(model, file, device, caps, options, nullptr, 0, summary, error);
}

vellum_status vellum_write_bundle_with_frames(const char* model, const char* file,
                                              const vellum_device* device, const char* caps,
                                              const vellum_session_options* options,
                                              const vellum_bundle_frame* frames, size_t frame_count,
                                              vellum_bundle_summary* summary, vellum_error* error) {
  return vellum_write_bundle_with_pictures(model, file, device, caps, options, frames, frame_count, nullptr,
                                           0, summary, error);
}

vellum_status vellum_write_bundle_with_pictures(const char* model, const char* file,
                                                const vellum_device* device, const char* caps,
                                                const vellum_session_options* options,
                                                const vellum_bundle_frame* frames, size_t frame_count,
                                                const vellum_bundle_picture* pictures, size_t picture_count,
                                                vellum_bundle_summary* summary, vellum_error* error) {
  const vellum_bundle_variants variants = variants_of(frames, frame_count, pictures, picture_count);
  return vellum_write_bundle_with_variants(model, file, device, caps, options, &variants, summary, error);
}

void vellum_bundle_variants_init_sized(vellum_bundle_variants* variants, size_t size) {
  vellum::c_api::write_defaults(variants, size, variants_defaults());
}

vellum_status vellum_write_bundle_with_variants(const char* model, const char* file,
                                                const vellum_device* device, const char* caps,
                                                const vellum_session_options* options,
                                                const vellum_bundle_variants* variants,
                                                vellum_bundle_summary* summary, vellum_error* error) {
  return guarded(error, [&] {
    require(model, "model");
    require(file, "file");
    write_summary(pack_variants(variants,
                                [&](const vellum::PackVariants& wanted) {
                                  return vellum::pack_with_variants(
                                      utf8_path(model), utf8_path(file), vellum::c_api::caps_of(device, caps),
                                      vellum::c_api::session_options(options), wanted);
                                }),
                  summary);
  });
}

vellum_status vellum_bundle_in_memory(const void* model, size_t model_bytes, vellum_write_callback write,
                                      void* write_user, const vellum_device* device, const char* caps,
                                      const vellum_session_options* options,
                                      const vellum_bundle_frame* frames, size_t frame_count,
                                      vellum_bundle_summary* summary, vellum_error* error) {
  return vellum_bundle_in_memory_with_pictures(model, model_bytes, write, write_user, device, caps, options,
                                               frames, frame_count, nullptr, 0, summary, error);
}

vellum_status vellum_bundle_in_memory_with_pictures(
    const void* model, size_t model_bytes, vellum_write_callback write, void* write_user,
    const vellum_device* device, const char* caps, const vellum_session_options* options,
    const vellum_bundle_frame* frames, size_t frame_count, const vellum_bundle_picture* pictures,
    size_t picture_count, vellum_bundle_summary* summary, vellum_error* error) {
  const vellum_bundle_variants variants = variants_of(frames, frame_count, pictures, picture_count);
  return vellum_bundle_in_memory_with_variants(model, model_bytes, write, write_user, device, caps, options,
                                               &variants, summary, error);
}

vellum_status vellum_bundle_in_memory_with_variants(const void* model, size_t model_bytes,
                                                    vellum_write_callback write, void* write_user,
                                                    const vellum_device* device, const char* caps,
                                                    const vellum_session_options* options,
                                                    const vellum_bundle_variants* variants,
                                                    vellum_bundle_summary* summary, vellum_error* error) {
  return guarded(error, [&] {
    using vellum::Error;
    using vellum::ErrorCode;
    require(model, "model");
    if (!write) throw Error(ErrorCode::invalid_argument, "write is NULL");
    const auto sink = [&](std::span<const std::byte> piece) {
      if (write(piece.data(), piece.size(), write_user) != 0)
        throw Error(ErrorCode::cancelled, "the bundle is not whole: the application ended its writing");
    };
    const std::span bytes(static_cast<const std::byte*>(model), model_bytes);
    write_summary(pack_variants(variants,
                                [&](const vellum::PackVariants& wanted) {
                                  return vellum::pack_with_variants(
                                      bytes, sink, vellum::c_api::caps_of(device, caps),
                                      vellum::c_api::session_options(options), wanted);
                                }),
                  summary);
  });
}
