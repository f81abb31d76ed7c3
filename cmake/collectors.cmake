# What runs inside a watched program: the QEMU plugin, and the library that is
# preloaded into the guest (for x86-64 and, with a cross compiler, AArch64). They
# are beside the tool in the build tree and in LIBDIR/reusescope when installed.
file(GLOB qemu_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/collect/qemu/*.c)
list(FILTER qemu_sources EXCLUDE REGEX "_preload\\.c$")
add_library(reusescope_qemu MODULE ${qemu_sources} src/collect/launch/target.c src/runtime/ring/ring_maps.c src/runtime/ring/ring_writer.c
            src/base/fail.c)
set_target_properties(reusescope_qemu PROPERTIES OUTPUT_NAME reusescope-qemu)
target_include_directories(reusescope_qemu PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_compile_options(reusescope_qemu PRIVATE -ftls-model=initial-exec -fno-sanitize=all)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
  target_compile_options(reusescope_qemu PRIVATE -mprfchw) # prefetches for writing; without it gcc makes them reads
endif()
target_link_options(reusescope_qemu PRIVATE -fno-sanitize=all)
target_link_libraries(reusescope_qemu PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
install(TARGETS reusescope_qemu LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/reusescope)

set(guest_flags -std=gnu11 -D_GNU_SOURCE -O2 -fPIC -shared -fvisibility=hidden -Wall -Wextra
    -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/src)
set(guest_source ${PROJECT_SOURCE_DIR}/src/collect/qemu/guest_preload.c)
# Any gcc builds a guest for this machine's architecture; others need a cross compiler.
set(own_gcc_${CMAKE_HOST_SYSTEM_PROCESSOR} gcc)
find_program(RSC_CC_X86_64 NAMES x86_64-linux-gnu-gcc ${own_gcc_x86_64})
find_program(RSC_CC_AARCH64 NAMES aarch64-linux-gnu-gcc ${own_gcc_aarch64})
foreach(guest x86_64 aarch64)
  string(TOUPPER ${guest} name)
  if(RSC_CC_${name})
    set(library ${PROJECT_BINARY_DIR}/libreusescope-guest-${guest}.so)
    add_custom_command(OUTPUT ${library}
      COMMAND ${RSC_CC_${name}} ${guest_flags} ${guest_source} -o ${library} -ldl
      DEPENDS ${guest_source} ${PROJECT_SOURCE_DIR}/src/collect/qemu/guest_calls.h VERBATIM)
    add_custom_target(guest_${guest} ALL DEPENDS ${library})
    install(FILES ${library} DESTINATION ${CMAKE_INSTALL_LIBDIR}/reusescope)
  endif()
endforeach()

# Our Valgrind tool (x86-64), with what Valgrind expects beside a tool; in a folder of their own. It is linked
# with parts of Valgrind, from the valgrind package: that program alone is under the GPL.
find_path(RSC_VALGRIND_INCLUDE pub_tool_tooliface.h PATHS /usr/include/valgrind /usr/local/include/valgrind)
find_library(RSC_VALGRIND_CORE NAMES libcoregrind-amd64-linux.a PATH_SUFFIXES valgrind x86_64-linux-gnu/valgrind)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64 AND RSC_VALGRIND_INCLUDE AND RSC_VALGRIND_CORE AND RSC_CC_X86_64)
  set(RSC_VALGRIND_TOOL ON)
  set(valgrind_out ${PROJECT_BINARY_DIR}/valgrind)
  get_filename_component(valgrind_libraries ${RSC_VALGRIND_CORE} DIRECTORY)
  set(valgrind_flags -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -fno-stack-protector -fno-strict-aliasing -fno-builtin
      -fno-pie -fcf-protection=none -DVGA_amd64=1 -DVGO_linux=1 -DVGP_amd64_linux=1 -DVGPV_amd64_linux_vanilla=1
      -isystem ${RSC_VALGRIND_INCLUDE} -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/src)
  file(GLOB valgrind_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/collect/valgrind/*.c)
  list(FILTER valgrind_sources EXCLUDE REGEX "/tool_launcher\\.c$")
  list(APPEND valgrind_sources ${PROJECT_SOURCE_DIR}/src/runtime/ring/ring_writer.c ${PROJECT_SOURCE_DIR}/src/collect/qemu/guest_code.c)
  file(GLOB valgrind_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/collect/valgrind/*.h ${PROJECT_SOURCE_DIR}/src/runtime/ring/*.h
       ${PROJECT_SOURCE_DIR}/src/collect/qemu/guest_*.h)
  set(valgrind_launcher ${PROJECT_SOURCE_DIR}/src/collect/valgrind/tool_launcher.c)
  file(MAKE_DIRECTORY ${valgrind_out})
  add_custom_command(OUTPUT ${valgrind_out}/reusescope-amd64-linux
    COMMAND ${RSC_CC_X86_64} ${valgrind_flags} -static -nodefaultlibs -nostartfiles -no-pie -u _start
            -Wl,-Ttext-segment=0x58000000 -Wl,--wrap=do_iropt_BB,--wrap=vgPlain_getenv
            -Wl,--wrap=vgPlain_client_syscall,--wrap=vgPlain_poll_signals,--wrap=vgPlain_nuke_all_threads_except
            -Wl,--wrap=vgModuleLocal_read_debuginfo_dwarf3,--wrap=vgModuleLocal_read_callframe_info_dwarf3
            ${valgrind_sources} -L${valgrind_libraries} -lcoregrind-amd64-linux -lvex-amd64-linux -lgcc-sup-amd64-linux -lgcc -o ${valgrind_out}/reusescope-amd64-linux
    DEPENDS ${valgrind_sources} ${valgrind_headers} VERBATIM)
  add_custom_command(OUTPUT ${valgrind_out}/launcher
    COMMAND ${RSC_CC_X86_64} -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra ${valgrind_launcher} -o ${valgrind_out}/launcher
    DEPENDS ${valgrind_launcher} VERBATIM)
  # Reports heap blocks; and a library that Valgrind preloads in any case, of which nothing is needed.
  add_custom_command(OUTPUT ${valgrind_out}/libreusescope-heap.so
    COMMAND ${RSC_CC_X86_64} ${guest_flags} -DRSC_GUEST_OF_VALGRIND ${guest_source} -o ${valgrind_out}/libreusescope-heap.so
    DEPENDS ${guest_source} ${PROJECT_SOURCE_DIR}/src/collect/qemu/guest_calls.h VERBATIM)
  add_custom_command(OUTPUT ${valgrind_out}/vgpreload_core-amd64-linux.so
    COMMAND ${RSC_CC_X86_64} -shared -nostdlib -x c /dev/null -o ${valgrind_out}/vgpreload_core-amd64-linux.so VERBATIM)
  set(valgrind_programs ${valgrind_out}/reusescope-amd64-linux ${valgrind_out}/launcher)
  set(valgrind_files ${valgrind_out}/libreusescope-heap.so ${valgrind_out}/vgpreload_core-amd64-linux.so)
  add_custom_target(valgrind_tool ALL DEPENDS ${valgrind_programs} ${valgrind_files})
  install(PROGRAMS ${valgrind_programs} DESTINATION ${CMAKE_INSTALL_LIBDIR}/reusescope/valgrind)
  install(FILES ${valgrind_files} DESTINATION ${CMAKE_INSTALL_LIBDIR}/reusescope/valgrind)
endif()

# Linked into programs that `reusescope cc` rebuilds (x86-64 only): the
# runtime, shared or as an archive for static executables, and an object for each
# executable or shared object.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
  set(asm_flags -std=gnu11 -D_GNU_SOURCE -O2 -g -fPIC -Wall -Wextra -fvisibility=hidden -fno-builtin
      -fno-tree-loop-distribute-patterns -fno-stack-protector -ffp-contract=off -fno-math-errno -ftls-model=initial-exec -fcf-protection=none
      -fasynchronous-unwind-tables -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/src)
  file(GLOB_RECURSE asm_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/runtime/*.c)
  list(FILTER asm_sources EXCLUDE REGEX "_preload\\.c$|/asm_module\\.c$")
  set(asm_base ${PROJECT_SOURCE_DIR}/src/base/rng.c ${PROJECT_SOURCE_DIR}/src/base/portable_math.c)
  list(APPEND asm_sources ${asm_base})
  file(GLOB_RECURSE asm_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/runtime/*.h)
  list(APPEND asm_headers ${PROJECT_SOURCE_DIR}/src/base/line_hash.h ${PROJECT_SOURCE_DIR}/src/base/rng.h)
  set(asm_module ${PROJECT_SOURCE_DIR}/src/runtime/recorder/asm_module.c)
  set(asm_out ${PROJECT_BINARY_DIR})
  add_custom_command(OUTPUT ${asm_out}/libreusescope-asm.so
    COMMAND ${RSC_CC_X86_64} ${asm_flags} -shared -Wl,-soname,libreusescope-asm.so -Wl,-z,defs -Wl,-z,nodelete ${asm_sources}
            -o ${asm_out}/libreusescope-asm.so
    DEPENDS ${asm_sources} ${asm_headers} VERBATIM)
  # One object, so that the interposing functions are linked together with the recorder.
  add_custom_command(OUTPUT ${asm_out}/reusescope-asm-static.o ${asm_out}/reusescope-asm-static.wrap
    COMMAND ${RSC_CC_X86_64} ${asm_flags} -DRSC_ASM_STATIC -r ${asm_sources} -o ${asm_out}/reusescope-asm-static.o
    # Linker options for the symbols to rename.
    COMMAND sh -c "nm $1 | sed -n 's/.* T __wrap_/--wrap=/p' > $2" sh ${asm_out}/reusescope-asm-static.o
            ${asm_out}/reusescope-asm-static.wrap
    DEPENDS ${asm_sources} ${asm_headers} VERBATIM)
  add_custom_command(OUTPUT ${asm_out}/reusescope-asm-shared.o
    COMMAND ${RSC_CC_X86_64} ${asm_flags} -c ${asm_module} -o ${asm_out}/reusescope-asm-shared.o
    DEPENDS ${asm_module} ${asm_headers} VERBATIM)
  add_custom_command(OUTPUT ${asm_out}/reusescope-asm-executable.o
    COMMAND ${RSC_CC_X86_64} ${asm_flags} -DRSC_ASM_EXECUTABLE -c ${asm_module} -o ${asm_out}/reusescope-asm-executable.o
    DEPENDS ${asm_module} ${asm_headers} VERBATIM)
  # The sampler for programs that were not rebuilt.
  file(GLOB perf_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/runtime/ring/*.c ${PROJECT_SOURCE_DIR}/src/runtime/watch/*.c
       ${PROJECT_SOURCE_DIR}/src/runtime/trap/*.c)
  list(APPEND perf_sources ${asm_base})
  add_custom_command(OUTPUT ${asm_out}/libreusescope-perf.so
    COMMAND ${RSC_CC_X86_64} ${asm_flags} -shared -Wl,-soname,libreusescope-perf.so -Wl,-z,defs ${perf_sources}
            -o ${asm_out}/libreusescope-perf.so
    DEPENDS ${perf_sources} ${asm_headers} VERBATIM)
  set(asm_files ${asm_out}/libreusescope-perf.so ${asm_out}/libreusescope-asm.so ${asm_out}/reusescope-asm-static.o ${asm_out}/reusescope-asm-shared.o
      ${asm_out}/reusescope-asm-static.wrap ${asm_out}/reusescope-asm-executable.o)
  add_custom_target(asm_runtime ALL DEPENDS ${asm_files})
  install(FILES ${asm_files} DESTINATION ${CMAKE_INSTALL_LIBDIR}/reusescope)
endif()
