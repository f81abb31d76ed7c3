# make install: tool, library, headers, pkg-config and CMake files, man pages, completions.
install(TARGETS reusescope reusescope_static RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS reusescope_shared EXPORT reusescopeTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/reusescope DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/*.1 ${PROJECT_SOURCE_DIR}/docs/man/*.5)
foreach(page IN LISTS pages)
  string(REGEX REPLACE ".*\\.([0-9])$" "\\1" section ${page})
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()
# The .pc file finds its prefix by itself: the tree may be installed anywhere and moved.
file(RELATIVE_PATH RSC_PREFIX_FROM_PKGCONFIG /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/reusescope.pc.in reusescope.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/reusescope.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(EXPORT reusescopeTargets NAMESPACE reusescope:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/reusescope
        FILE reusescopeConfig.cmake)

set(completions ${CMAKE_CURRENT_BINARY_DIR}/completions)
foreach(shell bash zsh fish)
  add_custom_command(OUTPUT ${completions}/${shell}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${completions}
    COMMAND reusescope help --completion ${shell} > ${completions}/${shell}
    DEPENDS reusescope VERBATIM)
endforeach()
add_custom_target(completions ALL DEPENDS ${completions}/bash ${completions}/zsh ${completions}/fish)
install(FILES ${completions}/bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME reusescope)
install(FILES ${completions}/zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _reusescope)
install(FILES ${completions}/fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d RENAME reusescope.fish)
install(DIRECTORY machines DESTINATION ${CMAKE_INSTALL_DATADIR}/reusescope)
