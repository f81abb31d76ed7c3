# cmake -DFROM=page.html -DTO=page_template.c -P embed_page.cmake: a file as a C array.
file(READ ${FROM} bytes HEX)
string(REGEX REPLACE "(................................................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${TO} "/* Made from web/dist/page.html by cmake/embed_page.cmake. */\n#include \"report/page/page.h\"\n\n"
  "const unsigned char rsc_page_template[] = {\n${bytes}\n};\nconst size_t rsc_page_template_bytes = sizeof rsc_page_template;\n")
