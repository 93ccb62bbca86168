// Include it before anything but directives.
#ifdef SUBGROUP
#extension GL_KHR_shader_subgroup_arithmetic : require
#endif
