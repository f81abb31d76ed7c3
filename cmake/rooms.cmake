# One object library a room, then the library and the tool made of them.
set(RSC_ROOMS base runtime trace profile distance multicore featherlight simulate loops collect report)
set(RSC_ROOM_OBJECTS)
foreach(room IN LISTS RSC_ROOMS)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/*.c)
  # What runs inside a watched program is built apart: cmake/collectors.cmake.
  list(FILTER sources EXCLUDE REGEX "/(qemu_plugin|qemu_words|code_plan|guest_preload|turns|follow|mpi_plugin|asm_runtime|asm_registry|asm_entry|asm_samples|asm_strings|asm_heap|asm_threads|asm_lines|asm_sampled|asm_sampled_words|own_pieces|asm_module|watch_countdown|watch_piece|watch_events|watch_signals|watch_stream|perf_preload)\\.c$")
  list(FILTER sources EXCLUDE REGEX "/collect/asm_(source|object|facts|flow|loops|pieces|cfi|emit|record|verify|main)\\.c$") # the assembler pass: cmake/asm_pass.cmake
  if(NOT RSC_LIBCLANG_INCLUDE)
    list(FILTER sources EXCLUDE REGEX "/loops/clang_[a-z_]*\\.c$")
  endif()
  if(sources)
    add_library(room_${room} OBJECT ${sources})
    target_include_directories(room_${room} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(room_${room} PUBLIC PkgConfig::ZSTD PkgConfig::LZMA PkgConfig::ZLIB PkgConfig::XXHASH
                                              PkgConfig::JANSSON Threads::Threads m)
    list(APPEND RSC_ROOM_OBJECTS $<TARGET_OBJECTS:room_${room}>)
  endif()
endforeach()

# The HTML page's template, which stands in the tool itself; web/build.mjs makes it, without need for node here.
set(RSC_PAGE_TEMPLATE ${PROJECT_BINARY_DIR}/page_template.c)
add_custom_command(OUTPUT ${RSC_PAGE_TEMPLATE}
  COMMAND ${CMAKE_COMMAND} -DFROM=${PROJECT_SOURCE_DIR}/web/dist/page.html -DTO=${RSC_PAGE_TEMPLATE}
          -P ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake
  DEPENDS ${PROJECT_SOURCE_DIR}/web/dist/page.html ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake VERBATIM)
target_sources(room_report PRIVATE ${RSC_PAGE_TEMPLATE})

# Files named *_avx2.c and *_avx512.c are the same code for wider machines; which
# one runs is chosen at run time (src/base/cpu.c).
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  file(GLOB_RECURSE wide CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*_avx2.c)
  set_source_files_properties(${wide} PROPERTIES COMPILE_OPTIONS "-mavx2;-mbmi;-mbmi2;-mpopcnt;-mlzcnt")
  file(GLOB_RECURSE wide CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*_avx512.c)
  set_source_files_properties(${wide} PROPERTIES COMPILE_OPTIONS
    "-mavx2;-mbmi;-mbmi2;-mpopcnt;-mlzcnt;-mavx512f;-mavx512bw;-mavx512vl;-mavx512dq;-mavx512vpopcntdq;-mavx512vbmi;-mprefer-vector-width=512")
endif()

# The same random numbers on every machine: no fused multiply-add where the source has two roundings.
set_source_files_properties(src/base/rng.c src/base/portable_math.c PROPERTIES COMPILE_OPTIONS -ffp-contract=off)

add_library(reusescope_static STATIC ${RSC_ROOM_OBJECTS})
set_target_properties(reusescope_static PROPERTIES OUTPUT_NAME reusescope)
target_include_directories(reusescope_static PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(reusescope_static PUBLIC PkgConfig::ZSTD PkgConfig::LZMA PkgConfig::ZLIB PkgConfig::XXHASH
                                               PkgConfig::JANSSON Threads::Threads m)

add_library(reusescope_shared SHARED ${RSC_ROOM_OBJECTS})
# libreusescope.so.N: N is the binary interface, which need not change with the version.
file(STRINGS include/reusescope/reusescope.h RSC_ABI REGEX "^#define RSC_ABI [0-9]+$")
string(REGEX REPLACE ".* " "" RSC_ABI "${RSC_ABI}")
set_target_properties(reusescope_shared PROPERTIES OUTPUT_NAME reusescope EXPORT_NAME reusescope VERSION ${RSC_ABI}.${PROJECT_VERSION}
                                                   SOVERSION ${RSC_ABI} LINK_DEPENDS ${PROJECT_SOURCE_DIR}/src/reusescope.map)
target_link_options(reusescope_shared PRIVATE LINKER:--version-script=${PROJECT_SOURCE_DIR}/src/reusescope.map)
target_include_directories(reusescope_shared INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
target_link_libraries(reusescope_shared PRIVATE PkgConfig::ZSTD PkgConfig::LZMA PkgConfig::ZLIB PkgConfig::XXHASH
                                                PkgConfig::JANSSON Threads::Threads m)

# loops: C source; without libclang's header only the text form is read.
if(RSC_LIBCLANG_INCLUDE)
  target_compile_definitions(room_loops PRIVATE RSC_HAVE_LIBCLANG)
  target_include_directories(room_loops SYSTEM PRIVATE ${RSC_LIBCLANG_INCLUDE})
endif()
# Names of code and data; without libdw that part says so. The C++ demangler is loaded when needed (dlopen).
if(LIBDW_FOUND)
  target_compile_definitions(room_collect PRIVATE RSC_HAVE_LIBDW)
  target_link_libraries(room_collect PUBLIC PkgConfig::LIBDW)
  target_link_libraries(reusescope_static PUBLIC PkgConfig::LIBDW)
  target_link_libraries(reusescope_shared PRIVATE PkgConfig::LIBDW)
  set(RSC_PC_LIBDW "-ldw -lelf")
endif()
# Loops of machine code; without Zydis profiles have none.
if(ZYDIS_INCLUDE AND ZYDIS_LIBRARY AND CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
  set(RSC_CODE_LOOPS ON)
  target_compile_definitions(room_collect PRIVATE RSC_HAVE_ZYDIS)
  target_include_directories(room_collect PRIVATE ${ZYDIS_INCLUDE})
  target_link_libraries(reusescope_static PUBLIC ${ZYDIS_LIBRARY})
  target_link_libraries(reusescope_shared PRIVATE ${ZYDIS_LIBRARY})
  set(RSC_PC_ZYDIS "-lZydis")
endif()
# OpenMP in one file; without it the same file makes the engine of one thread.
if(OpenMP_C_FOUND)
  set_source_files_properties(src/distance/hprda.c PROPERTIES COMPILE_OPTIONS "${OpenMP_C_FLAGS}")
  target_link_libraries(reusescope_static PUBLIC ${OpenMP_C_LIBRARIES})
  target_link_libraries(reusescope_shared PRIVATE ${OpenMP_C_LIBRARIES})
  list(TRANSFORM OpenMP_C_LIB_NAMES PREPEND "-l" OUTPUT_VARIABLE RSC_PC_OPENMP)
  list(JOIN RSC_PC_OPENMP " " RSC_PC_OPENMP)
else()
  set_source_files_properties(src/distance/hprda.c PROPERTIES COMPILE_OPTIONS -Wno-unknown-pragmas)
endif()
target_link_libraries(reusescope_static PUBLIC ${CMAKE_DL_LIBS})
target_link_libraries(reusescope_shared PRIVATE ${CMAKE_DL_LIBS})

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cmd/*.c)
add_executable(reusescope ${sources})
target_link_libraries(reusescope PRIVATE reusescope_static)
