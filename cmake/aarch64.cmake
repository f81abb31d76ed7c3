# Toolchain: AArch64 Linux with Debian's cross compiler, the libraries that
# scripts/aarch64-sysroot unpacked, and qemu-aarch64 to run what was built.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

set(RSC_SYSROOT ${CMAKE_CURRENT_LIST_DIR}/../build/aarch64-sysroot CACHE PATH "Where the libraries are")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES RSC_SYSROOT)
get_filename_component(sysroot ${RSC_SYSROOT} ABSOLUTE)
set(CMAKE_FIND_ROOT_PATH ${sysroot} /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# pkg-config sees the sysroot and nothing else; Debian's files name /usr, which it puts the sysroot before.
set(ENV{PKG_CONFIG_LIBDIR} ${sysroot}/usr/lib/aarch64-linux-gnu/pkgconfig:${sysroot}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${sysroot})
set(ENV{PKG_CONFIG_ALLOW_SYSTEM_CFLAGS} 1)
set(ENV{PKG_CONFIG_ALLOW_SYSTEM_LIBS} 1)

set(library_folders ${sysroot}/usr/lib/aarch64-linux-gnu:${sysroot}/lib/aarch64-linux-gnu)
string(REPLACE ":" ";" link_folders ${library_folders})
foreach(folder IN LISTS link_folders)
  string(APPEND CMAKE_EXE_LINKER_FLAGS_INIT " -Wl,-rpath-link,${folder}")
  string(APPEND CMAKE_SHARED_LINKER_FLAGS_INIT " -Wl,-rpath-link,${folder}")
endforeach()
# QEMU hands out addresses that were never used before, and keeps some bytes for good for every page it hands out: programs that
# reserve 16 GiB again and again would take all memory. In 16 GiB of addresses those reservations fail, and tables start small.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64;-R;16G;-L;/usr/aarch64-linux-gnu;-E;LD_LIBRARY_PATH=${library_folders})
