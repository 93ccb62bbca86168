// Included by whatever tests for NaN or computes with infinities. A driver's compiler may assume that there are neither,
// unless the entry point declares SignedZeroInfNanPreserve (Vulkan spec, "Precision and Operation of SPIR-V Instructions").
// Metal's compiler assumes it, which matters on MoltenVK; on the others the declaration would only forbid optimisations.
#ifdef INF_NAN_PRESERVE
#ifndef INF_NAN_GLSL
#define INF_NAN_GLSL
#extension GL_EXT_spirv_intrinsics : require
spirv_execution_mode(extensions = ["SPV_KHR_float_controls"], capabilities = [4466], 4461, 32);
#endif
#endif
