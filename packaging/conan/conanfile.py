# Unverified, see packaging/README.md. It builds the sources that it stands beside.
import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load

required_conan_version = ">=2.0"


class RowlockConan(ConanFile):
    name = "rowlock"
    description = "Locks with leases, tokens and a fair queue in your SQL database"
    topics = ("lock", "lease", "postgresql", "mariadb", "sqlite")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {
        "shared": [True, False],
        "postgres": [True, False],
        "mysql": [True, False],
        "sqlite": [True, False],
        "command": [True, False],
    }
    default_options = {"shared": False, "postgres": True, "mysql": True, "sqlite": True, "command": False}

    @property
    def _stores(self):
        return [name for name in ("postgres", "mysql", "sqlite") if self.options.get_safe(name)]

    def set_version(self):
        config = load(self, os.path.join(self.recipe_folder, "..", "..", "include", "rowlock", "config.hpp"))
        self.version = re.search(r'ROWLOCK_VERSION "([0-9.]+)"', config).group(1)

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..")
        for pattern in ("CMakeLists.txt", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md", "SECURITY.md",
                        "cmake/*", "docs/*", "examples/*", "include/*", "migrations/*", "packaging/*", "schema/*",
                        "share/*", "src/*"):
            copy(self, pattern, src=root, dst=self.export_sources_folder)

    def requirements(self):
        self.requires("fmt/[>=9 <12]")
        if self.options.postgres:
            self.requires("libpqxx/[>=7 <8]")
            self.requires("libpq/[>=13]")
        if self.options.mysql:
            self.requires("soci/[>=4.0.3 <5]", options={"with_mysql": True})
        if self.options.sqlite:
            self.requires("sqlite3/[>=3.35]")
        if self.options.command:
            self.requires("cli11/[>=2.3]")
            self.requires("nlohmann_json/[>=3.11]")

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("rowlock runs on Linux alone")
        if not self._stores:
            raise ConanInvalidConfiguration("rowlock needs a store: postgres, mysql or sqlite")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for option in ("TESTS", "BENCH", "EXAMPLES", "PACKAGE", "SERVE"):
            toolchain.cache_variables[f"ROWLOCK_{option}"] = False
        for option in ("postgres", "mysql", "sqlite", "command"):
            toolchain.cache_variables[f"ROWLOCK_{option.upper()}"] = "ON" if self.options.get_safe(option) else "OFF"
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "rowlock")
        self.cpp_info.set_property("cmake_target_name", "rowlock::rowlock")
        core = self.cpp_info.components["core"]
        core.set_property("cmake_target_name", "rowlock::core")
        core.set_property("pkg_config_name", "rowlock-core")
        core.libs = ["rowlock-core"]
        core.requires = ["fmt::fmt"]
        core.system_libs = ["pthread"]
        if self.options.command:
            core.requires += ["cli11::cli11", "nlohmann_json::nlohmann_json"]
        drivers = {"postgres": ["libpqxx::libpqxx", "libpq::libpq"], "mysql": ["soci::soci"],
                   "sqlite": ["sqlite3::sqlite3"]}
        for name in self._stores:
            store = self.cpp_info.components[name]
            store.set_property("cmake_target_name", f"rowlock::{name}")
            store.set_property("pkg_config_name", f"rowlock-{name}")
            store.libs = [f"rowlock-{name}"]
            store.requires = ["core"] + drivers[name]
            # Nothing in the program calls the store (src/store/registry.hpp).
            keep = "-Wl,--no-as-needed" if self.options.shared else f"-Wl,-u,rowlock_store_{name}"
            store.exelinkflags = [keep]
            store.sharedlinkflags = [keep]
