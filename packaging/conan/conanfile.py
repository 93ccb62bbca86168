"""Vellum for Conan 2: `conan create packaging/conan`, in the repository or in the unpacked source archive of a release."""
import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load

ROOT = os.path.join(os.pardir, os.pardir)


class VellumConan(ConanFile):
    name = "vellum"
    license = "Apache-2.0"
    description = "Vulkan compute inference runtime for vision models with planned, shared memory"
    topics = ("vulkan", "onnx", "tflite", "inference", "neural-network")
    package_type = "library"
    settings = "os", "compiler", "build_type", "arch"
    options = {
        "shared": [True, False],
        "fPIC": [True, False],
        "models": [True, False],  # Vellum::vellum, which reads ONNX and TFLite; else Vellum::runtime alone, for bundles
        "system": [True, False],  # dependencies of the system (./setup.sh build) in place of Conan's
    }
    default_options = {"shared": False, "fPIC": True, "models": True, "system": False}

    def set_version(self):
        text = load(self, os.path.join(self.recipe_folder, ROOT, "CMakeLists.txt"))
        self.version = re.search(r"project\(Vellum VERSION ([\d.]+)", text)[1]

    def export_sources(self):
        root = os.path.join(self.recipe_folder, ROOT)
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "runtime/*", "planner/*", "shaders/*", "caps/*"):
            copy(self, pattern, root, self.export_sources_folder)

    def config_options(self):
        if self.settings.os == "Windows":
            del self.options.fPIC

    def configure(self):
        if self.options.shared:
            self.options.rm_safe("fPIC")

    def requirements(self):
        if self.options.system:
            return
        self.requires("nlohmann_json/[>=3.11 <4]")
        self.requires("flatbuffers/[>=23 <25]")
        self.requires("vulkan-headers/[>=1.3.239]")
        if self.options.models:
            self.requires("glslang/[>=1.3.239]")
            self.requires("spirv-tools/[>=1.3.239]")
            self.requires("protobuf/[>=3.21 <4]")
            self.requires("onnx/[>=1.12 <2]")

    def build_requirements(self):
        if self.options.system:
            return
        self.tool_requires("flatbuffers/<host_version>")
        if self.options.models:
            self.tool_requires("protobuf/<host_version>")

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["VELLUM_PACKED_ONLY"] = not self.options.models
        toolchain.cache_variables["VELLUM_INSTALL"] = True
        toolchain.cache_variables["CMAKE_UNITY_BUILD"] = True
        for part in ("TESTS", "SAMPLES", "PYTHON", "JAVA"):
            toolchain.cache_variables[f"VELLUM_BUILD_{part}"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        # Vellum's own VellumConfig.cmake has the targets, Vellum::vellum and Vellum::runtime.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs.append(os.path.join("lib", "cmake", "Vellum"))
        self.cpp_info.libs = ["vellum" if self.options.models else "vellum_runtime"]
