# Libraries. The first group is needed; the rest each enable one part.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(LZMA REQUIRED IMPORTED_TARGET liblzma)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(LIBDW IMPORTED_TARGET libdw libelf)
# Only its header: the library is loaded when C source is to be read (src/loops/front/clang_load.c).
find_path(RSC_LIBCLANG_INCLUDE clang-c/Index.h PATHS /usr/lib/llvm-19/include NO_DEFAULT_PATH)
# The decoder of `reusescope cc`. Its package has no pkg-config file.
find_path(ZYDIS_INCLUDE Zydis/Zydis.h)
find_library(ZYDIS_LIBRARY Zydis)

# HP-RDA's threads. ThreadSanitizer does not know libgomp's barriers and reports
# false races, so that build runs the engine on one thread.
if(NOT RSC_SANITIZE MATCHES "thread")
  find_package(OpenMP COMPONENTS C)
endif()

if(RSC_TESTS)
  if(NOT RSC_FUZZ)
    pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
  endif()
  pkg_check_modules(GSL IMPORTED_TARGET gsl)
endif()
