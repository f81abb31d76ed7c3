/*
 * test_symbols.c - names, lines, inlined frames and variables of programs that the
 * test compiles itself, against what their source says and what addr2line says of
 * every byte of their functions; and files that are damaged or not what they seem.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/rng.h"
#include "collect/symbols/demangle.h"
#include "collect/symbols/symbols.h"
#include "collect/symbols/variable_events.h"
#include "profile/profile_rows.h"
#include "runtime/sampler/sampler.h"
#include "trace/variable_event.h"
#include "unit/scratch_folder.h"

#define LARGE_C "int array[4096] = {1}, small = 2;\nint main(void) { return array[small]; }\n"
#define PIE_BIAS 0x555555554000ull

static const char program_c[] = "#include <stdlib.h>\n" /* 1 */
                                "int grid[256];\n" /* 2 */
                                "static int table[64] = {1};\n" /* 3 */
                                "__thread int of_thread[16];\n" /* 4 */
                                "__attribute__((always_inline)) static inline int inner(volatile int *p) {\n" /* 5 */
                                "    return p[0] + 1;\n" /* 6 */
                                "}\n" /* 7 */
                                "__attribute__((always_inline)) static inline int middle(volatile int *p) {\n" /* 8 */
                                "    return inner(p) * 3;\n" /* 9 */
                                "}\n" /* 10 */
                                "__attribute__((noinline)) int outer(volatile int *p) {\n" /* 11 */
                                "    static int calls[8];\n" /* 12 */
                                "    calls[p[1] & 7]++;\n" /* 13 */
                                "    return middle(p) + calls[0];\n" /* 14 */
                                "}\n" /* 15 */
                                "__attribute__((noinline)) static int *allocate(size_t n) {\n" /* 16 */
                                "    int *block = malloc(n);\n" /* 17 */
                                "    if (block) block[0] = table[3];\n" /* 18 */
                                "    return block;\n" /* 19 */
                                "}\n" /* 20 */
                                "int main(int argc, char **argv) {\n" /* 21 */
                                "    (void)argv;\n" /* 22 */
                                "    for (int i = 0; i < 256; i++) grid[i] = i * argc + of_thread[i & 15];\n" /* 23 */
                                "    table[argc & 63] = outer(grid);\n" /* 24 */
                                "    return allocate((size_t)argc * 64) != NULL && table[1];\n" /* 25 */
                                "}\n";

static const char program_cc[] = "namespace heat {\n" /* 1 */
                                 "template <class T> struct Grid {\n" /* 2 */
                                 "    T *cells; int n;\n" /* 3 */
                                 "    __attribute__((always_inline)) T at(int i) const { return cells[i]; }\n" /* 4 */
                                 "    __attribute__((noinline, noclone, used)) T sum(int from) const;\n" /* 5 */
                                 "};\n" /* 6 */
                                 "template <class T> T Grid<T>::sum(int from) const {\n" /* 7 */
                                 "    T total = 0;\n" /* 8 */
                                 "    for (int i = from; i < n; i++) total += at(i);\n" /* 9 */
                                 "    return total;\n" /* 10 */
                                 "}\n" /* 11 */
                                 "double storage[128];\n" /* 12 */
                                 "}\n" /* 13 */
                                 "int main(int argc, char **) {\n" /* 14 */
                                 "    heat::Grid<double> grid{heat::storage, 128};\n" /* 15 */
                                 "    return (int)grid.sum(argc);\n" /* 16 */
                                 "}\n";

/* Runs a command in the scratch folder. Its status, for commands that may be missing. */
__attribute__((format(printf, 1, 2))) static int run(const char *format, ...) {
    char command[2 * PATH_MAX], line[4 * PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    snprintf(line, sizeof line, "cd '%s' && { %s; } 2>command.err", scratch_folder, command);
    return system(line);
}

static int have(const char *command) { return run("command -v %s >/dev/null", command) == 0; }

/* Value and size of a symbol, from nm. */
static int find_symbol(const char *file, const char *symbol, uint64_t *value, uint64_t *bytes) {
    char line[1024], name[512], command[2 * PATH_MAX];
    int found = 0;
    snprintf(command, sizeof command, "nm -S '%s/%s'", scratch_folder, file);
    FILE *output = popen(command, "r");
    assert_non_null(output);
    while (fgets(line, sizeof line, output))
        if (sscanf(line, "%" SCNx64 " %" SCNx64 " %*c %511s", value, bytes, name) == 3 && !strcmp(name, symbol)) {
            found = 1;
            break;
        }
    while (fgets(line, sizeof line, output)) continue;
    pclose(output);
    return found;
}

static uint64_t address_of(const char *file, const char *symbol) {
    uint64_t value, bytes;
    if (!find_symbol(file, symbol, &value, &bytes)) fail_msg("%s has no %s", file, symbol);
    return value;
}

/* Tells the symbols what the kernel would have mapped: each segment in whole pages. */
static uint64_t add_file(struct rsc_symbols *symbols, const char *file, const char *path, const uint8_t *id,
                         size_t id_bytes) {
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    FILE *input = fopen(scratch_path(file), "rb");
    assert_non_null(input);
    assert_int_equal(fread(&header, sizeof header, 1, input), 1);
    uint64_t bias = header.e_type == ET_DYN ? PIE_BIAS : 0;
    for (unsigned i = 0; i < header.e_phnum; i++) {
        fseek(input, (long)(header.e_phoff + i * sizeof segment), SEEK_SET);
        assert_int_equal(fread(&segment, sizeof segment, 1, input), 1);
        if (segment.p_type != PT_LOAD) continue;
        uint64_t low = segment.p_vaddr & ~4095ull, end = (segment.p_vaddr + segment.p_filesz + 4095) & ~4095ull;
        assert_int_equal(
            rsc_symbols_add(symbols, bias + low, end - low, segment.p_offset & ~4095ull, path, id, id_bytes, NULL), 0);
    }
    fclose(input);
    return bias;
}

static struct rsc_symbols *symbols_of(const char *file, uint64_t *bias) {
    struct rsc_symbols *symbols;
    assert_int_equal(rsc_symbols_new(&symbols, NULL, NULL), 0);
    *bias = add_file(symbols, file, scratch_path(file), NULL, 0);
    return symbols;
}

static void free_places(struct rsc_place *places, size_t count) {
    for (size_t i = 0; i < count; i++) rsc_place_clear(&places[i]);
    free(places);
}

static const char *base_name(const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "??";
}

/* One line a frame: "function file:line". */
static void frames_text(struct rsc_symbols *symbols, uint64_t pc, char *text, size_t room) {
    struct rsc_place place = {.pc = pc}, *inlined;
    size_t count, used = 0;
    assert_int_equal(rsc_symbols_place(symbols, &place, &inlined, &count), 0);
    for (size_t i = 0; i <= count; i++) {
        const struct rsc_place *frame = i ? &inlined[i - 1] : &place;
        assert_int_equal(frame->pc, pc);
        assert_non_null(frame->module);
        used += (size_t)snprintf(text + used, room - used, "%s %s:%u\n", frame->function ? frame->function : "??",
                                 base_name(frame->file), frame->line);
        assert_true(used < room);
    }
    free_places(inlined, count);
    rsc_place_clear(&place);
}

/* Every byte of a function, against addr2line. Returns how many had inlined frames. */
static unsigned compare_function(struct rsc_symbols *symbols, uint64_t bias, const char *file, const char *symbol,
                                 const char *addr2line) {
    char line[4096], function[4096], expected[16384], found[16384], command[3 * PATH_MAX];
    uint64_t value, bytes, at;
    unsigned inlined = 0, compared = 0;
    assert_true(find_symbol(file, symbol, &value, &bytes));
    FILE *list = fopen(scratch_path("addresses"), "w");
    for (uint64_t i = 0; i < bytes; i++) fprintf(list, "0x%" PRIx64 "\n", value + i);
    fclose(list);
    snprintf(command, sizeof command, "%s -a -f -i -C -e '%s/%s' <'%s/addresses'", addr2line, scratch_folder, file,
             scratch_folder);
    FILE *output = popen(command, "r");
    assert_non_null(output);
    int more = fgets(line, sizeof line, output) != NULL;
    while (more) {
        size_t used = 0, frames = 0;
        assert_int_equal(sscanf(line, "0x%" SCNx64, &at), 1);
        while ((more = fgets(line, sizeof line, output) != NULL) && strncmp(line, "0x", 2)) {
            snprintf(function, sizeof function, "%.*s", (int)strcspn(line, "\n"), line);
            assert_non_null(fgets(line, sizeof line, output));
            char *extra = strstr(line, " (discriminator");
            line[extra ? (size_t)(extra - line) : strcspn(line, "\n")] = 0;
            used += (size_t)snprintf(expected + used, sizeof expected - used, "%s %s\n", function, base_name(line));
            frames++;
        }
        frames_text(symbols, at + bias, found, sizeof found);
        assert_string_equal(found, expected);
        inlined += frames > 1;
        compared++;
    }
    pclose(output);
    assert_int_equal(compared, bytes);
    return inlined;
}

/* Pieces of data as rsc_symbols_large_data() shows them. */
struct pieces {
    uint64_t after, grid, grid_bytes,
        table_pieces; /* end of the last one; the one that begins with grid; those with bytes of table */
    uint64_t table;
};

static int take_piece(void *context, uint64_t start, uint64_t bytes) {
    struct pieces *pieces = context;
    assert_true(bytes >= 1024 && start >= pieces->after);
    pieces->after = start + bytes;
    if (start == pieces->grid) pieces->grid_bytes = bytes;
    pieces->table_pieces += start < pieces->table + 256 && start + bytes > pieces->table;
    return 0;
}

/* grid has 1024 bytes and a piece of its own; table has 256, and is in none. */
static void check_large_data(struct rsc_symbols *symbols, uint64_t bias, const char *file) {
    struct pieces pieces = {.grid = address_of(file, "grid") + bias, .table = address_of(file, "table") + bias};
    assert_int_equal(rsc_symbols_large_data(symbols, pieces.table, 1024, take_piece, &pieces), 0);
    assert_int_equal(pieces.grid_bytes, 1024);
    assert_int_equal(pieces.table_pieces, 0);
    pieces = (struct pieces){0};
    assert_int_equal(rsc_symbols_large_data(symbols, address_of(file, "outer") + bias, 1, take_piece, &pieces), 0);
    assert_int_equal(pieces.after, 0); /* code is not data */
    assert_int_equal(rsc_symbols_large_data(symbols, 8, 1, take_piece, &pieces), 0);
    assert_int_equal(pieces.after, 0);
}

/* The truth about program_c that does not depend on how it was built. */
static void check_program(struct rsc_symbols *symbols, uint64_t bias, const char *file, int has_lines) {
    struct rsc_place place = {.pc = address_of(file, "outer") + bias};
    const char *name;
    uint64_t start, bytes, grid = address_of(file, "grid");
    assert_int_equal(rsc_symbols_place(symbols, &place, NULL, NULL), 0);
    assert_string_equal(place.function, "outer");
    assert_true(!strncmp(base_name(place.module), file, strlen(file)));
    if (has_lines) {
        char path[PATH_MAX];
        assert_non_null(realpath(scratch_path("program.c"), path));
        assert_string_equal(place.file, path);
        assert_in_range(place.line, 11, 13); /* the compiler may begin with the first statement */
    } else {
        assert_null(place.file);
        assert_int_equal(place.line, 0);
    }
    rsc_place_clear(&place);
    assert_int_equal(rsc_symbols_variable(symbols, grid + bias + 1023, &name, &start, &bytes), 1);
    assert_string_equal(name, "grid");
    assert_int_equal(start, grid + bias);
    assert_int_equal(bytes, 1024);
    assert_int_equal(rsc_symbols_variable(symbols, address_of(file, "table") + bias, &name, &start, &bytes), 1);
    assert_string_equal(name, "table");
    assert_int_equal(rsc_symbols_variable(symbols, address_of(file, "outer") + bias, &name, &start, &bytes), 0);
    assert_int_equal(rsc_symbols_variable(symbols, bias + 8, &name, &start, &bytes), 0);
}

static void every_kind_of_program(void **state) {
    (void)state;
    static const struct {
        const char *name, *flags, *compiler;
    } kinds[] = {
        {"pie", "-g -O2 -fPIE -pie", "gcc"},
        {"fixed", "-g -O2 -fno-pie -no-pie", "gcc"},
        {"object.so", "-g -O2 -fPIC -shared", "gcc"},
        {"static", "-g -O2 -static", "gcc"},
        {"plain", "-g -O0", "gcc"},
        {"dwarf4", "-gdwarf-4 -O2", "gcc"},
        {"zipped", "-g -gz=zlib -O2", "gcc"},
        {"byclang", "-g -O2", "clang"},
        {"split", "-g -gsplit-dwarf -O2", "gcc"},
        {"lld", "-g -O2 -fuse-ld=lld", "clang"},
        {"cross", "-g -O2", "aarch64-linux-gnu-gcc"},
        {"crossfixed", "-g -O2 -no-pie -fno-pie", "aarch64-linux-gnu-gcc"},
    };
    scratch_write("program.c", program_c, strlen(program_c));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        uint64_t bias;
        const char *name = kinds[i].name;
        if (!have(kinds[i].compiler) || run("%s %s program.c -o %s", kinds[i].compiler, kinds[i].flags, name)) {
            print_message("%s %s: not possible here, left out\n", kinds[i].compiler, kinds[i].flags);
            continue;
        }
        struct rsc_symbols *symbols = symbols_of(name, &bias);
        check_program(symbols, bias, name, 1);
        check_large_data(symbols, bias, name);
        /* addr2line 2.40 does not follow -gsplit-dwarf and reads sizes of other machines' lines alike */
        int other = strstr(kinds[i].compiler, "aarch64") != NULL;
        const char *addr2line = other ? "aarch64-linux-gnu-addr2line" : "addr2line";
        if (strcmp(name, "split") && have(addr2line)) {
            unsigned inlined = compare_function(symbols, bias, name, "outer", addr2line);
            assert_true(inlined > 0);
            compare_function(symbols, bias, name, "main", addr2line);
        }
        rsc_symbols_free(symbols);
    }
}

/* The load in inner(), inlined into middle(), inlined into outer(): found by its line. */
static void inlined_frames_are_innermost_first(void **state) {
    (void)state;
    uint64_t bias, value, bytes;
    unsigned found = 0;
    char text[4096];
    scratch_write("program.c", program_c, strlen(program_c));
    assert_int_equal(run("gcc -g -O2 program.c -o chain"), 0);
    struct rsc_symbols *symbols = symbols_of("chain", &bias);
    assert_true(find_symbol("chain", "outer", &value, &bytes));
    for (uint64_t at = value; at < value + bytes; at++) {
        frames_text(symbols, at + bias, text, sizeof text);
        found += !strcmp(text, "inner program.c:6\nmiddle program.c:9\nouter program.c:14\n");
    }
    assert_true(found > 0);
    rsc_symbols_free(symbols);
    if (run("gcc -g -gsplit-dwarf -O2 program.c -o split")) return;
    symbols = symbols_of("split", &bias);
    assert_true(find_symbol("split", "outer", &value, &bytes));
    for (found = 0; value < address_of("split", "outer") + bytes; value++) {
        frames_text(symbols, value + bias, text, sizeof text);
        found += !strcmp(text, "inner program.c:6\nmiddle program.c:9\nouter program.c:14\n");
    }
    assert_true(found > 0);
    rsc_symbols_free(symbols);
}

static void cpp_names_are_readable(void **state) {
    (void)state;
    uint64_t bias, start, bytes;
    const char *name, *sum = "_ZNK4heat4GridIdE3sumEi";
    if (!have("g++")) skip();
    scratch_write("program.cc", program_cc, strlen(program_cc));
    for (int debug = 0; debug < 2; debug++) {
        assert_int_equal(run("g++ %s -O2 program.cc -o cpp", debug ? "-g" : "-g0"), 0);
        struct rsc_symbols *symbols = symbols_of("cpp", &bias);
        struct rsc_place place = {.pc = address_of("cpp", sum) + bias};
        assert_int_equal(rsc_symbols_place(symbols, &place, NULL, NULL), 0);
        assert_string_equal(place.function, "heat::Grid<double>::sum(int) const");
        rsc_place_clear(&place);
        if (debug) assert_true(compare_function(symbols, bias, "cpp", sum, "addr2line") > 0);
        assert_int_equal(
            rsc_symbols_variable(symbols, address_of("cpp", "_ZN4heat7storageE") + bias + 8, &name, &start, &bytes), 1);
        assert_string_equal(name, "heat::storage");
        assert_int_equal(bytes, 1024);
        rsc_symbols_free(symbols);
    }
}

static void demangled_names(void **state) {
    (void)state;
    struct rsc_demangler demangler = {0};
    static const struct {
        const char *name, *readable; /* NULL: stays */
    } names[] = {
        {"_Zfoo", NULL},
        {"main", NULL},
        {"_Z3addii", "add(int, int)"},
        {"_ZN4core3ptr4read17h0123456789abcdefE", "core::ptr::read"},
        {"_ZN99_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE", NULL},
        {"_ZN61_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE",
         "<alloc::vec::Vec<T> as core::fmt::Debug>::fmt"},
        {"_ZN3abc6heaterE", "abc::heater"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *text = rsc_demangle(&demangler, names[i].name);
        if (!demangler.demangle) skip();
        if (names[i].readable) assert_string_equal(text, names[i].readable);
        else assert_null(text);
        free(text);
    }
    /* each step says the one before twice: 3 steps are short, 33 would be 2^35 characters */
    for (int steps = 3; steps <= 33; steps += 30) {
        char bomb[1024] = "_Z1f1pI1aS0_E";
        size_t used = strlen(bomb);
        for (int i = 1; i <= steps; i++) {
            char last = (char)(i < 10 ? '0' + i : 'A' + i - 10);
            used += (size_t)snprintf(bomb + used, sizeof bomb - used, "S_IS%c_S%c_E", last, last);
        }
        char *text = rsc_demangle(&demangler, bomb);
        assert_true((text != NULL) == (steps == 3));
        free(text);
    }
}

static void separate_debug_files(void **state) {
    (void)state;
    uint64_t bias;
    scratch_write("program.c", program_c, strlen(program_c));
    for (int with_id = 0; with_id < 2; with_id++) {
        assert_int_equal(
            run("gcc -g -O2 -Wl,--build-id=%s program.c -o whole && objcopy --only-keep-debug whole "
                "apart.debug && cp whole apart && strip apart && objcopy --add-gnu-debuglink=apart.debug apart",
                with_id ? "sha1" : "none"),
            0);
        struct rsc_symbols *symbols = symbols_of("apart", &bias);
        struct rsc_place place = {.pc = address_of("whole", "outer") + bias};
        assert_int_equal(rsc_symbols_place(symbols, &place, NULL, NULL), 0);
        assert_string_equal(place.function, "outer");
        assert_in_range(place.line, 11, 13);
        rsc_place_clear(&place);
        rsc_symbols_free(symbols);
        /* another program's debug file is not believed */
        assert_int_equal(run("gcc -g -O1 -DX -Wl,--build-id=%s program.c -o other && objcopy --only-keep-debug other "
                             "apart.debug",
                             with_id ? "sha1" : "none"),
                         0);
        symbols = symbols_of("apart", &bias);
        place = (struct rsc_place){.pc = address_of("whole", "outer") + bias};
        assert_int_equal(rsc_symbols_place(symbols, &place, NULL, NULL), 0);
        assert_null(place.file);
        assert_null(place.function);
        rsc_place_clear(&place);
        rsc_symbols_free(symbols);
    }
}

static struct log_lines {
    unsigned count;
    char last[512];
} lines;

static void keep_line(void *user, enum rsc_log_level level, const char *line) {
    struct log_lines *kept = user;
    (void)level;
    kept->count++;
    snprintf(kept->last, sizeof kept->last, "%s", line);
}

/* Compiles program_c with a build id, which is returned in hexadecimal. */
static const char *build_with_id(const char *file) {
    static char id[41];
    char line[1024];
    scratch_write("program.c", program_c, strlen(program_c));
    assert_int_equal(run("gcc -g -O2 -Wl,--build-id=sha1 program.c -o %s && readelf -n %s >notes", file, file), 0);
    FILE *notes = fopen(scratch_path("notes"), "r");
    while (fgets(line, sizeof line, notes)) sscanf(line, " Build ID: %40[0-9a-f]", id);
    fclose(notes);
    assert_int_equal(strlen(id), 40);
    return id;
}

static void debug_files_below_a_sysroot(void **state) {
    (void)state;
    char root[PATH_MAX];
    struct rsc_symbols *symbols;
    const char *id = build_with_id("rooted");
    assert_int_equal(run("mkdir -p root/usr/bin root/usr/lib/debug/.build-id/%.2s && objcopy --only-keep-debug rooted "
                         "root/usr/lib/debug/.build-id/%.2s/%s.debug && cp rooted root/usr/bin/rooted && strip "
                         "root/usr/bin/rooted",
                         id, id, id + 2),
                     0);
    snprintf(root, sizeof root, "%s", scratch_path("root"));
    struct rsc_symbols_options options = {.sysroot = root};
    assert_int_equal(rsc_symbols_new(&symbols, &options, NULL), 0);
    uint64_t bias = add_file(symbols, "rooted", "/usr/bin/rooted", NULL, 0);
    check_program(symbols, bias, "rooted", 1);
    rsc_symbols_free(symbols);
    assert_int_equal(run("rm -r root"), 0);
}

/* A folder can be a server: DEBUGINFOD_URLS takes file:// too. */
static void servers_only_when_asked(void **state) {
    (void)state;
    char url[PATH_MAX + 16];
    void *client = dlopen("libdebuginfod.so.1", RTLD_NOW);
    const char *id = build_with_id("served");
    assert_int_equal(
        run("mkdir -p server/buildid/%s && objcopy --only-keep-debug served server/buildid/%s/debuginfo && "
            "cp served remote && strip remote",
            id, id),
        0);
    size_t used = (size_t)snprintf(url, sizeof url, "file://");
    for (const char *at = scratch_path("server"); *at && used < sizeof url; at++) /* spaces part addresses */
        used += (size_t)snprintf(url + used, sizeof url - used, *at == ' ' ? "%%20" : "%c", *at);
    setenv("DEBUGINFOD_URLS", url, 1);
    setenv("DEBUGINFOD_CACHE_PATH", scratch_path("cache"), 1);
    for (int asked = 0; asked < 2; asked++) {
        struct rsc_log log = {keep_line, &lines};
        struct rsc_symbols_options options = {.debuginfod = asked, .log = &log};
        struct rsc_symbols *symbols;
        assert_int_equal(rsc_symbols_new(&symbols, &options, NULL), 0);
        uint64_t bias = add_file(symbols, "remote", scratch_path("remote"), NULL, 0);
        struct rsc_place place = {.pc = address_of("served", "outer") + bias};
        assert_int_equal(rsc_symbols_place(symbols, &place, NULL, NULL), 0);
        if (asked && !client) print_message("no libdebuginfod here, left out\n");
        else assert_true((place.line != 0) == asked);
        rsc_place_clear(&place);
        rsc_symbols_free(symbols);
        if (!asked) assert_int_not_equal(run("test -e cache"), 0);
    }
    unsetenv("DEBUGINFOD_URLS");
    unsetenv("DEBUGINFOD_CACHE_PATH");
    assert_int_equal(run("rm -rf server cache"), 0);
    if (client) dlclose(client);
}

static void without_debug_information(void **state) {
    (void)state;
    uint64_t bias;
    struct rsc_symbols *symbols;
    scratch_write("program.c", program_c, strlen(program_c));
    assert_int_equal(run("gcc -g0 -O2 program.c -o bare"), 0);
    symbols = symbols_of("bare", &bias);
    check_program(symbols, bias, "bare", 0);
    rsc_symbols_free(symbols);
    /* dynamic symbols only */
    assert_int_equal(run("gcc -g0 -O2 -fPIC -shared program.c -o full.so && strip -o bare.so full.so"), 0);
    symbols = symbols_of("bare.so", &bias);
    struct rsc_place place = {.pc = address_of("full.so", "outer") + bias + 1};
    assert_int_equal(rsc_symbols_place(symbols, &place, NULL, NULL), 0);
    assert_string_equal(place.function, "outer");
    rsc_place_clear(&place);
    rsc_symbols_free(symbols);
}

/* The child that reads debug information ends: what it answered stays, the symbol table names the rest, one warning. */
static void a_reader_that_ends(void **state) {
    (void)state;
    struct rsc_log log = {keep_line, &lines};
    struct rsc_symbols_options options = {.log = &log};
    struct rsc_symbols *symbols;
    char children[64] = "";
    scratch_write("program.c", program_c, strlen(program_c));
    assert_int_equal(run("gcc -g -O2 program.c -o ending"), 0);
    assert_int_equal(rsc_symbols_new(&symbols, &options, NULL), 0);
    uint64_t bias = add_file(symbols, "ending", scratch_path("ending"), NULL, 0);
    lines.count = 0;
    for (unsigned i = 0; i < 4; i++) {
        struct rsc_place place = {.pc = address_of("ending", "outer") + bias + i};
        assert_int_equal(rsc_symbols_place(symbols, &place, NULL, NULL), 0);
        assert_string_equal(place.function, "outer");
        assert_int_equal(place.line != 0, i < 2);
        rsc_place_clear(&place);
        if (i != 1) continue;
        FILE *list = fopen("/proc/thread-self/children", "r");
        if (!list) break; /* this kernel does not tell */
        assert_non_null(fgets(children, sizeof children, list));
        fclose(list);
        assert_int_equal(kill((pid_t)atoi(children), SIGKILL), 0);
    }
    if (children[0]) assert_int_equal(lines.count, 1);
    if (children[0]) assert_non_null(strstr(lines.last, "lines are missing"));
    struct rsc_place before = {.pc = address_of("ending", "outer") + bias};
    assert_int_equal(rsc_symbols_place(symbols, &before, NULL, NULL), 0);
    assert_int_not_equal(before.line, 0);
    rsc_place_clear(&before);
    rsc_symbols_free(symbols);
}

static void another_build_gives_the_module_only(void **state) {
    (void)state;
    static const uint8_t wrong[20] = {1, 2, 3};
    struct rsc_log log = {keep_line, &lines};
    struct rsc_symbols_options options = {.log = &log};
    struct rsc_symbols *symbols;
    build_with_id("built");
    assert_int_equal(rsc_symbols_new(&symbols, &options, NULL), 0);
    uint64_t bias = add_file(symbols, "built", scratch_path("built"), wrong, sizeof wrong);
    lines.count = 0;
    for (unsigned i = 0; i < 3; i++) {
        struct rsc_place place = {.pc = address_of("built", "outer") + bias + i};
        assert_int_equal(rsc_symbols_place(symbols, &place, NULL, NULL), 0);
        assert_null(place.function);
        assert_null(place.file);
        assert_string_equal(place.module, scratch_path("built"));
        rsc_place_clear(&place);
    }
    assert_int_equal(lines.count, 1);
    assert_non_null(strstr(lines.last, "build id"));
    rsc_symbols_free(symbols);
}

static void what_is_no_elf_file(void **state) {
    (void)state;
    struct rsc_symbols *symbols;
    assert_int_equal(rsc_symbols_new(&symbols, NULL, NULL), 0);
    assert_int_equal(run("rm -f fifo && mkfifo fifo"), 0);
    scratch_write("empty", "", 0);
    scratch_write("text", "hello", 5);
    static const char *const names[] = {"[vdso]", "",      "/dev/zero", "/dev/tty", "/nonexistent",
                                        "fifo",   "empty", "text",      "."};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *path = i < 5 ? names[i] : scratch_path(names[i]);
        assert_int_equal(rsc_symbols_add(symbols, 0x10000 * (i + 1), 0x1000, 0, path, NULL, 0, NULL), 0);
        struct rsc_place place = {.pc = 0x10000 * (i + 1) + 5};
        assert_int_equal(rsc_symbols_place(symbols, &place, NULL, NULL), 0);
        assert_string_equal(place.module, path);
        assert_null(place.function);
        rsc_place_clear(&place);
    }
    struct rsc_place place = {.pc = 77};
    struct rsc_error error = {0};
    assert_int_equal(rsc_symbols_place(symbols, &place, NULL, NULL), 0);
    assert_null(place.module);
    assert_int_equal(rsc_symbols_add(symbols, 1, 0, 0, "x", NULL, 0, &error), RSC_EINVAL);
    assert_int_equal(rsc_symbols_add(symbols, 1, 1, 0, NULL, NULL, 0, &error), RSC_EINVAL);
    assert_int_equal(rsc_symbols_add(symbols, UINT64_MAX - 5, 100, 0, "x", NULL, 0, &error), 0);
    rsc_symbols_free(symbols);
    rsc_symbols_free(NULL);
}

/* Maps as mmap has them: the later one wins where they overlap, and what was said before is forgotten. */
static void later_maps_replace_earlier(void **state) {
    (void)state;
    enum { PAGES = 200 };
    static char owner[PAGES][16];
    struct rsc_symbols *symbols;
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 7, 0);
    assert_int_equal(rsc_symbols_new(&symbols, NULL, NULL), 0);
    memset(owner, 0, sizeof owner);
    for (int i = 0; i < 400; i++) {
        char path[16];
        uint64_t first = rsc_rng_below(&rng, PAGES), count = 1 + rsc_rng_below(&rng, PAGES - first);
        if (count > 40) count = 40;
        snprintf(path, sizeof path, "[m%u]", (unsigned)rsc_rng_below(&rng, 50));
        assert_int_equal(rsc_symbols_add(symbols, first * 4096, count * 4096, 0, path, NULL, 0, NULL), 0);
        for (uint64_t page = first; page < first + count; page++) memcpy(owner[page], path, sizeof path);
        for (uint64_t page = 0; i % 10 == 0 && page < PAGES; page++) {
            struct rsc_place place = {.pc = page * 4096 + page};
            assert_int_equal(rsc_symbols_place(symbols, &place, NULL, NULL), 0);
            if (owner[page][0]) assert_string_equal(place.module, owner[page]);
            else assert_null(place.module);
            rsc_place_clear(&place);
        }
    }
    rsc_symbols_free(symbols);
}

static void a_whole_profile(void **state) {
    (void)state;
    uint64_t bias, value, bytes;
    char text[64];
    scratch_write("program.c", program_c, strlen(program_c));
    assert_int_equal(run("gcc -g -O2 program.c -o named"), 0);
    struct rsc_symbols *symbols = symbols_of("named", &bias);
    assert_int_equal(rsc_symbols_add(symbols, 0x7f0000000000, 0x10000, 0, "/lib/libc.so.6.missing", NULL, 0, NULL), 0);
    struct rsc_profile *profile = rsc_profile_new();
    assert_true(profile && !rsc_profile_set_code(profile, 1) && !rsc_profile_set_pairs(profile, 1) &&
                !rsc_profile_set_objects(profile, 5) && !rsc_profile_set_contexts(profile, 3));
    uint64_t outer = address_of("named", "outer") + bias;
    assert_true(find_symbol("named", "allocate", &value, &bytes));
    uint64_t call = 0; /* any address of line 17 */
    for (uint64_t at = value; !call && at < value + bytes; at++) {
        struct rsc_place place = {.pc = at + bias};
        assert_int_equal(rsc_symbols_place(symbols, &place, NULL, NULL), 0);
        if (place.line == 17) call = at + bias;
        rsc_place_clear(&place);
    }
    assert_true(call != 0);
    profile->code[0].place.pc = outer;
    profile->pairs[0].use.pc = outer;
    profile->pairs[0].reuse.pc = call;
    profile->contexts[0].place.pc = address_of("named", "main") + bias;
    profile->contexts[0].parent = RSC_NO_CONTEXT;
    profile->contexts[1].place.pc = call;
    profile->contexts[1].parent = 0;
    profile->contexts[2].place.pc = 0x7f0000000123; /* inside the C library */
    profile->contexts[2].parent = 1;
    for (size_t i = 0; i < 5; i++) profile->objects[i].context = RSC_NO_CONTEXT;
    profile->objects[0].kind = "heap";
    profile->objects[0].context = 2;
    profile->objects[1].kind = profile->objects[2].kind = profile->objects[3].kind = "global";
    profile->objects[4].kind = "stack";
    snprintf(text, sizeof text, "0x%" PRIx64, address_of("named", "grid") + bias);
    assert_int_equal(rsc_profile_set_text(&profile->objects[1].name, text), 0);
    assert_true(find_symbol("named", "calls.0", &value, &bytes));
    snprintf(text, sizeof text, "0x%" PRIx64, value + bias);
    assert_int_equal(rsc_profile_set_text(&profile->objects[2].name, text), 0);
    assert_int_equal(rsc_profile_set_text(&profile->objects[3].name, "0x10"), 0);
    assert_int_equal(rsc_profile_set_text(&profile->objects[4].name, "stack of thread 1"), 0);
    for (int twice = 0; twice < 2; twice++) {
        assert_int_equal(rsc_symbols_name_profile(symbols, profile, NULL), 0);
        assert_string_equal(profile->code[0].place.function, "outer");
        assert_string_equal(profile->pairs[0].use.function, "outer");
        assert_string_equal(profile->pairs[0].reuse.function, "allocate");
        assert_int_equal(profile->pairs[0].reuse.line, 17);
        assert_string_equal(profile->contexts[0].place.function, "main");
        assert_string_equal(profile->objects[0].name, "heap block allocated at program.c:17 (allocate)");
        assert_string_equal(profile->objects[1].name, "grid (program.c:2)");
        assert_string_equal(profile->objects[2].name, "calls.0 (program.c:12)");
        assert_string_equal(profile->objects[3].name, "0x10");
        assert_string_equal(profile->objects[4].name, "stack of thread 1");
    }
    rsc_profile_free(profile);
    rsc_symbols_free(symbols);
}

/* Looks around in a file that may be anything. */
static void use_file(const char *file, uint64_t code, uint64_t data) {
    struct rsc_symbols *symbols;
    const char *name;
    uint64_t start, bytes;
    assert_int_equal(rsc_symbols_new(&symbols, &(struct rsc_symbols_options){.in_process = 1}, NULL), 0);
    assert_int_equal(rsc_symbols_add(symbols, PIE_BIAS, 0x10000, 0, scratch_path(file), NULL, 0, NULL), 0);
    for (uint64_t i = 0; i < 40; i += 3) {
        struct rsc_place place = {.pc = PIE_BIAS + code + i}, *inlined;
        size_t count;
        assert_int_equal(rsc_symbols_place(symbols, &place, &inlined, &count), 0);
        free_places(inlined, count);
        rsc_place_clear(&place);
        rsc_symbols_variable(symbols, PIE_BIAS + data + i, &name, &start, &bytes);
    }
    /* and the loops of its code */
    struct rsc_profile *profile = rsc_profile_new();
    assert_true(profile && !rsc_profile_set_code(profile, 40));
    for (uint64_t i = 0; i < 40; i++) profile->code[i].place.pc = PIE_BIAS + code + i * 8 - 64;
    assert_int_equal(rsc_symbols_name_profile(symbols, profile, NULL), 0);
    for (size_t i = 0; i < 40; i++) assert_true(profile->code[i].place.loop <= profile->loop_count);
    rsc_profile_free(profile);
    rsc_symbols_free(symbols);
}

static void damaged_files(void **state) {
    (void)state;
    struct rsc_rng rng;
    static uint8_t whole[1 << 20];
    rsc_rng_seed(&rng, 11, 0);
    scratch_write("program.c", program_c, strlen(program_c));
    assert_int_equal(run("gcc -g -O2 program.c -o good"), 0);
    uint64_t code = address_of("good", "outer"), data = address_of("good", "grid");
    FILE *input = fopen(scratch_path("good"), "rb");
    size_t bytes = fread(whole, 1, sizeof whole, input);
    fclose(input);
    for (size_t i = 0; i < 200; i++) {
        scratch_write("bad", whole, bytes * i / 200);
        use_file("bad", code, data);
    }
    for (size_t i = 0; i < 500; i++) {
        /* half of them in the headers and the debug information, where they hurt */
        size_t at = i % 4 ? rsc_rng_below(&rng, bytes) : rsc_rng_below(&rng, 0x300);
        uint8_t before = whole[at];
        whole[at] = (uint8_t)(i % 3 ? before ^ 1u << rsc_rng_below(&rng, 8) : rsc_rng_below(&rng, 256));
        scratch_write("bad", whole, bytes);
        use_file("bad", code, data);
        whole[at] = before;
    }
}

/* ---- events of large variables ---- */

static struct rsc_event map_event(uint64_t start, uint64_t bytes, uint64_t offset, const char *path, uint8_t *data) {
    size_t length = strlen(path);
    memcpy(data, &offset, sizeof offset);
    data[8] = 0;
    memcpy(data + 9, path, length);
    return (struct rsc_event){
        .type = RSC_EVENT_MAP, .a = start, .b = bytes, .data = data, .data_bytes = (uint16_t)(9 + length)};
}

/* Variables follow the map of their file, and samples between events stay between the same events. */
static void large_variables_are_announced(void **state) {
    static uint8_t data[2][4200];
    struct rsc_variable_events variables = {0};
    uint64_t value, bytes;
    (void)state;
    scratch_write("large.c", LARGE_C, strlen(LARGE_C));
    assert_int_equal(run("gcc -O1 -no-pie -fno-pie large.c -o large"), 0);
    assert_true(find_symbol("large", "array", &value, &bytes));
    const uint64_t page = value & ~4095ull;
    const struct rsc_event events[] = {
        {.type = RSC_EVENT_ALLOC, .a = 0x1000, .b = 64},
        map_event(page, value + bytes - page, page, scratch_path("large"), data[0]),
        {.type = RSC_EVENT_FREE, .a = 0x1000},
        map_event(0x7000000, 0x1000, 0, "[stack]", data[1]),
    };
    struct rsc_sample_record samples[5];
    memset(samples, 0, sizeof samples);
    for (uint32_t i = 0; i < 5; i++) samples[i].after_events = i;
    const struct rsc_batch given = {.events = events, .event_count = 4}, *batch = &given;
    const struct rsc_batch_columns columns = {.samples = samples, .sample_count = 5}, *with = &columns;
    assert_int_equal(rsc_variable_events_add(&variables, NULL, &batch, &with), 0);
    uint32_t found = 0, at = 2, more = batch->event_count - 4;
    for (; at < batch->event_count && batch->events[at].type == RSC_EVENT_VARIABLE; at++)
        found += batch->events[at].a == value && batch->events[at].b == bytes;
    assert_int_equal(found, 1);
    assert_int_equal(at, 2 + more); /* all of them are there */
    assert_int_equal(batch->events[at].type, RSC_EVENT_FREE);
    for (uint32_t i = 0; i < 5; i++) assert_int_equal(with->samples[i].after_events, i < 2 ? i : i + more);

    /* a batch without maps is left as it is, and there is an end to maps of one file */
    const struct rsc_batch calm = {.events = events, .event_count = 1};
    batch = &calm;
    with = &columns; /* what it returned belongs to the batch before */
    assert_int_equal(rsc_variable_events_add(&variables, NULL, &batch, &with), 0);
    assert_ptr_equal(batch, &calm);
    variables.announced = RSC_VARIABLE_EVENTS_MAX;
    batch = &given;
    with = &columns;
    assert_int_equal(rsc_variable_events_add(&variables, NULL, &batch, &with), 0);
    assert_int_equal(batch->event_count, 4);
    rsc_variable_events_free(&variables);
}

int main(void) {
    struct rsc_symbols *symbols;
    if (rsc_symbols_new(&symbols, NULL, NULL) == RSC_EUNSUPPORTED) {
        puts("skipped: this build has no libdw");
        return 77;
    }
    rsc_symbols_free(symbols);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_program),
        cmocka_unit_test(inlined_frames_are_innermost_first),
        cmocka_unit_test(cpp_names_are_readable),
        cmocka_unit_test(demangled_names),
        cmocka_unit_test(separate_debug_files),
        cmocka_unit_test(debug_files_below_a_sysroot),
        cmocka_unit_test(servers_only_when_asked),
        cmocka_unit_test(without_debug_information),
        cmocka_unit_test(a_reader_that_ends),
        cmocka_unit_test(another_build_gives_the_module_only),
        cmocka_unit_test(what_is_no_elf_file),
        cmocka_unit_test(later_maps_replace_earlier),
        cmocka_unit_test(a_whole_profile),
        cmocka_unit_test(damaged_files),
        cmocka_unit_test(large_variables_are_announced),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
