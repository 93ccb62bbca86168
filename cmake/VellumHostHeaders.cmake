# For Android: libraries that are headers alone come from this machine. Its /usr/include cannot be searched itself, because the
# headers of its own C library are there too; each library's folder is copied to one that has nothing else.
include_guard(GLOBAL)

set(vellum_host_headers ${PROJECT_BINARY_DIR}/host_headers)
function(vellum_copy_host_headers folder file package)
  find_path(VELLUM_HOST_${folder} ${folder}/${file} PATHS /usr/include /usr/local/include NO_DEFAULT_PATH
            NO_CMAKE_FIND_ROOT_PATH DOC "Folder on this machine that holds ${folder}/${file}")
  if(NOT VELLUM_HOST_${folder})
    message(FATAL_ERROR "${folder}/${file} was not found on this machine. Install ${package} (Debian, Ubuntu), or point "
                        "VELLUM_HOST_${folder} at the folder that holds ${folder}/.")
  endif()
  file(COPY ${VELLUM_HOST_${folder}}/${folder} DESTINATION ${vellum_host_headers})
endfunction()
vellum_copy_host_headers(nlohmann json.hpp nlohmann-json3-dev)
vellum_copy_host_headers(flatbuffers flatbuffers.h libflatbuffers-dev)
vellum_copy_host_headers(vulkan vulkan_raii.hpp libvulkan-dev)
vellum_copy_host_headers(vk_video vulkan_video_codec_h264std.h libvulkan-dev)

add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED GLOBAL)
target_include_directories(nlohmann_json::nlohmann_json SYSTEM INTERFACE ${vellum_host_headers})
set(VELLUM_FLATBUFFERS_INCLUDE ${vellum_host_headers} CACHE PATH "" FORCE)
set(VELLUM_VULKAN_INCLUDE_DIR ${vellum_host_headers} CACHE PATH "" FORCE)
