/* The device of tests in C: with the limits that the test is to run under. */
#ifndef VELLUM_TESTS_API_C_DEVICE_H
#define VELLUM_TESTS_API_C_DEVICE_H

#include <stdlib.h>
#include <string.h>
#include <vellum/vellum.h>

static vellum_status open_device(vellum_device** device, vellum_error* error) {
  const char* limits = getenv("VELLUM_TEST_LIMITS");
  vellum_device_options options;
  vellum_device_options_init(&options);
  options.android_baseline_2022 = limits && strcmp(limits, "android_baseline_2022") == 0;
  return vellum_device_open(&options, device, error);
}

#endif
