// Included by shaders that test for NaN or compute with infinities. A driver's compiler may assume that
// neither occurs, unless the entry point declares SignedZeroInfNanPreserve (Vulkan spec, "Precision and
// Operation of SPIR-V Instructions"). Metal's compiler does, so the declaration is used on MoltenVK. On other
// drivers it would only prevent optimisations.
#ifdef INF_NAN_PRESERVE
#ifndef INF_NAN_GLSL
#define INF_NAN_GLSL
#extension GL_EXT_spirv_intrinsics : require
spirv_execution_mode(extensions = ["SPV_KHR_float_controls"], capabilities = [4466], 4461, 32);
#endif
#endif
