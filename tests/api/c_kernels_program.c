/* Kernels, and models and bundles in memory, in C. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <vellum/vellum.h>
#include <vellum/vellum_frame.h>
#include <vellum/vellum_picture.h>

#include "c_checks.h"
#include "c_program.h"

static int32_t stop_at_second(size_t done, size_t total, void* user) {
  *(size_t*)user = done;
  return total > 0 && done == 1;
}

static void count_released(void* user) { ++*(int*)user; }

struct bundle {
  unsigned char bytes[1 << 20];
  size_t size;
};

static int32_t append(const void* bytes, size_t byte_count, void* user) {
  struct bundle* to = user;
  if (byte_count > sizeof to->bytes - to->size) return 1;
  memcpy(to->bytes + to->size, bytes, byte_count);
  to->size += byte_count;
  return 0;
}

static int32_t refuse(const void* bytes, size_t byte_count, void* user) {
  (void)bytes, (void)byte_count, (void)user;
  return 1;
}

int check_kernels_in_c(char what[512]) {
  int line = 0;
  size_t i, done_until = 0;
  int32_t known = 1;
  vellum_error error = {VELLUM_OK, ""};
  vellum_device* device = NULL;
  vellum_kernel_check_list* list = NULL;
  vellum_kernel_check check = VELLUM_SIZED(vellum_kernel_check);
  vellum_kernel_check_options options;
  vellum_device_rates rates = VELLUM_SIZED(vellum_device_rates);

  EXPECT(vellum_device_open(NULL, &device, &error) == VELLUM_OK);
  vellum_kernel_check_options_init(&options);
  EXPECT(options.only == NULL && options.all == 0 && options.progress == NULL);
  options.only = "Resize";
  EXPECT(vellum_check_kernels(device, &options, &list, &error) == VELLUM_OK);
  EXPECT(vellum_kernel_check_list_count(list) >= 4);
  for (i = 0; i < vellum_kernel_check_list_count(list); ++i) {
    EXPECT(vellum_kernel_check_list_get(list, i, &check, &error) == VELLUM_OK);
    EXPECT(check.passed && check.difference <= check.bound && check.failure[0] == 0);
    EXPECT(strncmp(check.operation, "Resize", 6) == 0 && check.storage != VELLUM_STORAGE_AUTO);
  }
  FAILS(vellum_kernel_check_list_get(list, i, &check, &error), VELLUM_INVALID_ARGUMENT, "no check");
  vellum_kernel_check_list_destroy(list);
  options.progress = stop_at_second;
  options.progress_user = &done_until;
  FAILS(vellum_check_kernels(device, &options, &list, &error), VELLUM_CANCELLED, "");
  EXPECT(list == NULL && done_until == 1);
  options.only = "Frobnicate";
  FAILS(vellum_check_kernels(device, &options, &list, &error), VELLUM_NOT_FOUND, "Frobnicate");
  FAILS(vellum_check_kernels(NULL, NULL, &list, &error), VELLUM_INVALID_ARGUMENT, "device");
  FAILS(vellum_check_layers(device, NULL, NULL, NULL, &list, &error), VELLUM_INVALID_ARGUMENT, "model");
  vellum_crash_list* crashes = NULL;
  EXPECT(vellum_forget_crashes(device, &error) == VELLUM_OK);
  EXPECT(vellum_get_crashes(device, &crashes, &error) == VELLUM_OK);
  EXPECT(crashes != NULL && vellum_crash_list_count(crashes) == 0);
  EXPECT(vellum_crash_list_get(crashes, 0) == NULL && vellum_crash_list_get(NULL, 0) == NULL);
  vellum_crash_list_destroy(crashes);
  EXPECT(vellum_crash_list_count(NULL) == 0);
  FAILS(vellum_get_crashes(device, NULL, &error), VELLUM_INVALID_ARGUMENT, "list");
  FAILS(vellum_get_crashes(NULL, &crashes, &error), VELLUM_INVALID_ARGUMENT, "device");
  FAILS(vellum_forget_crashes(NULL, &error), VELLUM_INVALID_ARGUMENT, "device");
  EXPECT(vellum_device_known_rates(device, &rates, &known, &error) == VELLUM_OK);
  EXPECT(known == 0 || rates.units > 0); /* of a GPU whose chip is known */

done:
  vellum_kernel_check_list_destroy(list);
  vellum_device_destroy(device);
  return line;
}

/* A report that the program in C++ made of plain values. */
int read_kernel_report_in_c(const vellum_kernel_report* report, char what[512]) {
  int line = 0;
  int32_t known = 0;
  vellum_error error = {VELLUM_OK, ""};
  vellum_device_rates rates = VELLUM_SIZED(vellum_device_rates);
  vellum_kernel_pipeline pipeline = VELLUM_SIZED(vellum_kernel_pipeline);
  vellum_kernel_code code = VELLUM_SIZED(vellum_kernel_code);
  vellum_kernel_dispatch dispatch = VELLUM_SIZED(vellum_kernel_dispatch);

  EXPECT(vellum_kernel_report_rates(report, &rates, &known, &error) == VELLUM_OK && known == 1);
  EXPECT(rates.gigamacs_per_s == 1000 && rates.units == 8 && rates.barrier_us == 3);
  EXPECT(vellum_kernel_report_pipeline_count(report) == 1 && vellum_kernel_report_dispatch_count(report) == 1);
  EXPECT(vellum_kernel_report_pipeline(report, 0, &pipeline, &error) == VELLUM_OK);
  EXPECT(strcmp(pipeline.shader, "conv") == 0 && strcmp(pipeline.variant, "TILE=4") == 0);
  EXPECT(pipeline.define_count == 1 && strcmp(pipeline.defines[0].name, "TILE") == 0);
  EXPECT(strcmp(pipeline.defines[0].value, "4") == 0);
  EXPECT(pipeline.workgroup_size[0] == 64 && pipeline.workgroup_size[2] == 1 && pipeline.code_count == 2);
  EXPECT(vellum_kernel_report_code(report, 0, 1, &code, &error) == VELLUM_OK);
  EXPECT(code.subgroup_size == 16 && code.registers == 24 && isnan(code.spills));
  EXPECT(code.statistic_count == 1 && strcmp(code.statistics[0].name, "VGPRs") == 0 && code.statistics[0].value == 24);
  EXPECT(code.representation_count == 1 && strcmp(code.representations[0].text, "s_endpgm") == 0);
  EXPECT(vellum_kernel_report_dispatch(report, 0, &dispatch, &error) == VELLUM_OK);
  EXPECT(strcmp(dispatch.name, "conv1") == 0 && strcmp(dispatch.op, "Conv") == 0 && dispatch.pipeline == 0);
  EXPECT(dispatch.workgroups[1] == 5 && dispatch.barrier == 1 && dispatch.macs == 12345);
  EXPECT(dispatch.predicted_us == 7.5 && dispatch.busy == 0.5 && dispatch.efficiency == 0.25);
  FAILS(vellum_kernel_report_pipeline(report, 1, &pipeline, &error), VELLUM_INVALID_ARGUMENT, "no pipeline 1; there are 1");
  FAILS(vellum_kernel_report_code(report, 0, 2, &code, &error), VELLUM_INVALID_ARGUMENT, "no code 2");
  FAILS(vellum_kernel_report_dispatch(report, 1, &dispatch, &error), VELLUM_INVALID_ARGUMENT, "no dispatch");

done:
  return line;
}

int in_memory_in_c(const void* model_bytes, size_t model_size, const float* input, size_t input_count, float* outputs,
                   size_t output_count, char what[512]) {
  int line = 0, released = 0, i;
  vellum_error error = {VELLUM_OK, ""};
  vellum_device* device = NULL;
  vellum_model* model = NULL;
  vellum_session* session = NULL;
  vellum_frame_input camera;
  vellum_kernel_report* report = NULL;
  const vellum_bundle_frame frames = {"x", &camera};
  vellum_bundle_summary plain = VELLUM_SIZED(vellum_bundle_summary);
  vellum_bundle_summary framed = plain, with_images = plain;
  vellum_bundle_variants variants;
  struct bundle* bundle = calloc(1, sizeof *bundle);

  EXPECT(bundle != NULL);
  EXPECT(vellum_device_open(NULL, &device, &error) == VELLUM_OK);
  vellum_frame_input_init(&camera);
  camera.width = 33, camera.height = 27;
  EXPECT(vellum_bundle_in_memory(model_bytes, model_size, append, bundle, device, NULL, NULL, &frames, 1, &framed,
                                 &error) == VELLUM_OK);
  EXPECT(framed.file_bytes == bundle->size);
  bundle->size = 0;
  EXPECT(vellum_bundle_in_memory(model_bytes, model_size, append, bundle, device, NULL, NULL, NULL, 0, &plain, &error) ==
         VELLUM_OK);
  EXPECT(plain.file_bytes == bundle->size && plain.shaders > 0 && framed.shaders > plain.shaders);
  vellum_bundle_variants_init(&variants);
  variants.frames = &frames;
  variants.frame_count = 1;
  variants.images = 1;
  bundle->size = 0;
  EXPECT(vellum_bundle_in_memory_with_variants(model_bytes, model_size, append, bundle, device, NULL, NULL,
                                               &variants, &with_images, &error) == VELLUM_OK);
  EXPECT(with_images.file_bytes == bundle->size && with_images.shaders > framed.shaders);
  FAILS(vellum_bundle_in_memory(model_bytes, model_size, refuse, NULL, device, NULL, NULL, NULL, 0, NULL, &error),
        VELLUM_CANCELLED, "not whole");
  FAILS(vellum_bundle_in_memory(model_bytes, model_size, NULL, NULL, device, NULL, NULL, NULL, 0, NULL, &error),
        VELLUM_INVALID_ARGUMENT, "write");

  /* The bundle stays lent as long as its session; a model file is given back before the function returns. */
  for (i = 0; i < 2; ++i) {
    const void* bytes = i == 0 ? bundle->bytes : model_bytes;
    const size_t size = i == 0 ? bundle->size : model_size;
    EXPECT(vellum_model_load_borrowed(bytes, size, NULL, count_released, &released, &model, &error) == VELLUM_OK);
    EXPECT(released == i + (i == 1));
    EXPECT(vellum_session_create(device, model, NULL, &session, &error) == VELLUM_OK);
    vellum_model_destroy(model);
    model = NULL;
    EXPECT(released == i + (i == 1));
    EXPECT(vellum_session_set_input(session, "x", input, input_count * sizeof(float), &error) == VELLUM_OK);
    EXPECT(vellum_session_run(session, &error) == VELLUM_OK);
    EXPECT(vellum_session_get_output(session, "y", outputs + (size_t)i * output_count, output_count * sizeof(float),
                                     &error) == VELLUM_OK);
    vellum_session_destroy(session);
    session = NULL;
    EXPECT(released == i + 1);
  }
  FAILS(vellum_model_load_borrowed(NULL, 0, NULL, count_released, &released, &model, &error), VELLUM_INVALID_ARGUMENT,
        "bytes");
  EXPECT(released == 3);
  FAILS(vellum_model_load_borrowed("garbage", 7, NULL, count_released, &released, &model, &error), VELLUM_CORRUPT_MODEL, "");
  EXPECT(released == 4 && model == NULL);

  /* A driver on the CPU reports nothing of its machine code. */
  EXPECT(vellum_model_load_bytes(model_bytes, model_size, &model, &error) == VELLUM_OK);
  if (vellum_kernel_report_create(device, model, NULL, NULL, &report, &error) == VELLUM_OK) {
    EXPECT(vellum_kernel_report_pipeline_count(report) > 0);
    vellum_kernel_report_destroy(report);
  } else {
    EXPECT(error.status == VELLUM_UNSUPPORTED &&
           strstr(error.message, "VK_KHR_pipeline_executable_properties") != NULL);
    EXPECT(report == NULL && vellum_kernel_report_pipeline_count(report) == 0);
  }

done:
  vellum_session_destroy(session);
  vellum_model_destroy(model);
  vellum_device_destroy(device);
  free(bundle);
  return line;
}
