// The protocol of last_workgroup.glsl with integers: two workgroups of two invocations store a 1 each, and the last workgroup
// stores their sum twice.
#version 450
#extension GL_GOOGLE_include_directive : require
#pragma use_vulkan_memory_model

layout(local_size_x = 2) in;

#define LINEAR_ATOMIC(name) layout(set = 0, binding = 0, std430) buffer counters_block { uint name##_data[]; };
layout(set = 0, binding = 1, std430) coherent buffer means_block { uint means[]; };
layout(set = 0, binding = 2, std430) buffer results_block { uint results[]; };

int lane = int(gl_LocalInvocationID.x);

#include "last_workgroup.glsl"

void main() {
  if (lane == 0) means[gl_WorkGroupID.x] = 1;
  if (!is_last_workgroup(0, 2)) return;
  results[lane] = means[0] + means[1];
}
