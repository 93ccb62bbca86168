// The handle of a kernel report in C.
#pragma once

#include <vector>

#include "vellum/kernels.hpp"
#include "vellum/vellum_kernels.h"

struct vellum_kernel_report {
  explicit vellum_kernel_report(vellum::KernelReport made);
  vellum_kernel_report(const vellum_kernel_report&) = delete;
  vellum_kernel_report& operator=(const vellum_kernel_report&) = delete;

  // The C structures of one KernelCode. They point into `report`.
  struct Code {
    std::vector<vellum_kernel_statistic> statistics;
    std::vector<vellum_kernel_representation> representations;
  };

  vellum::KernelReport report;
  std::vector<std::vector<vellum_kernel_define>> defines;  // for each pipeline; pointers into `report`
  std::vector<std::vector<Code>> code;                     // for each pipeline
};
