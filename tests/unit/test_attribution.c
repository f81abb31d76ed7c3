/*
 * test_attribution.c - call paths, objects and rows from events made by hand.
 *
 * A scene is written as events and accesses in order and cut into batches of any
 * size: what comes out may not depend on where they are cut.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <reusescope/reusescope.h>

#include "distance/count/attribution.h"
#include "distance/count/call_paths.h"
#include "distance/count/objects.h"
#include "trace/variable_event.h"

/* ---- scenes ---- */

#define SCENE_MAX 4096

struct scene {
    uint32_t count, event_count;
    uint64_t addr[SCENE_MAX], meta[SCENE_MAX], pc[SCENE_MAX];
    struct rsc_event events[SCENE_MAX];
    uint8_t data[1 << 16];
    size_t data_bytes;
};

static struct scene scene;

static void scene_start(void) { memset(&scene, 0, sizeof scene); }

static void access_by(uint32_t thread, uint64_t pc, uint64_t addr) {
    scene.addr[scene.count] = addr;
    scene.meta[scene.count] = rsc_meta(8, RSC_READ, thread);
    scene.pc[scene.count++] = pc;
}

static void access_at(uint64_t pc, uint64_t addr) { access_by(0, pc, addr); }

static void fetch_at(uint64_t pc) {
    access_at(pc, pc);
    scene.meta[scene.count - 1] = rsc_meta(4, RSC_FETCH, 0);
}

static struct rsc_event *event_by(uint32_t thread, uint16_t type, uint64_t a, uint64_t b) {
    struct rsc_event *event = &scene.events[scene.event_count++];
    *event = (struct rsc_event){.at = scene.count, .type = type, .thread = thread, .a = a, .b = b};
    return event;
}

static void call(uint64_t pc) { event_by(0, RSC_EVENT_CALL, pc, 0); }
static void back_to(uint64_t pc) { event_by(0, RSC_EVENT_RETURN, pc, 0); }
static void allocate(uint64_t addr, uint64_t bytes) { event_by(0, RSC_EVENT_ALLOC, addr, bytes); }
static void release(uint64_t addr) { event_by(0, RSC_EVENT_FREE, addr, 0); }

static void attach(struct rsc_event *event, const void *data, size_t bytes) {
    memcpy(scene.data + scene.data_bytes, data, bytes);
    event->data = scene.data + scene.data_bytes;
    event->data_bytes = (uint16_t)bytes;
    scene.data_bytes += bytes;
}

static void allocate_from(uint64_t addr, uint64_t bytes, const uint64_t *path, size_t depth) {
    attach(event_by(0, RSC_EVENT_ALLOC, addr, bytes), path, depth * sizeof *path);
}

static void map(uint64_t start, uint64_t bytes, uint64_t offset, const char *build_id, const char *name) {
    uint8_t data[256];
    size_t id = strlen(build_id), length = strlen(name);
    memcpy(data, &offset, 8);
    data[8] = (uint8_t)id;
    memcpy(data + 9, build_id, id);
    memcpy(data + 9 + id, name, length);
    attach(event_by(0, RSC_EVENT_MAP, start, bytes), data, 9 + id + length);
}

static uint32_t top_lines; /* asked for, 0 in most scenes */

/* The scene's profile, its batches `step` accesses long. */
static struct rsc_profile *play_in_steps(uint32_t step) {
    struct rsc_engine_options options = {
        .struct_bytes = sizeof options, .attribute = 1, .top_lines = top_lines, .top_lines_bytes = 64};
    struct rsc_engine *engine;
    struct rsc_profile *profile;
    struct rsc_error error;
    uint32_t done = 0, next = 0;
    assert_int_equal(rsc_engine_new(&engine, &options, &error), 0);
    do {
        uint32_t part = scene.count - done < step ? scene.count - done : step, first = next;
        struct rsc_event *events = malloc((scene.event_count + 1) * sizeof *events);
        int is_last = done + part == scene.count;
        for (; next < scene.event_count && (is_last || scene.events[next].at < done + part); next++) {
            events[next - first] = scene.events[next];
            events[next - first].at -= done;
        }
        struct rsc_batch batch = {.count = part,
                                  .addr = scene.addr + done,
                                  .meta = scene.meta + done,
                                  .pc = scene.pc + done,
                                  .events = events,
                                  .event_count = next - first,
                                  .instructions = RSC_UNKNOWN};
        assert_int_equal(rsc_engine_push(engine, &batch, &error), 0);
        memset(events, 0xee, (scene.event_count + 1) * sizeof *events); /* batches are gone after the push */
        free(events);
        done += part;
    } while (done < scene.count);
    assert_int_equal(rsc_engine_finish(engine, &profile, &error), 0);
    rsc_engine_free(engine);
    return profile;
}

static struct rsc_profile *play(void) {
    struct rsc_profile *whole = play_in_steps(SCENE_MAX);
    for (uint32_t step = 1; step < 4; step++) {
        struct rsc_profile *cut = play_in_steps(step);
        assert_int_equal(cut->object_count, whole->object_count);
        assert_int_equal(cut->context_count, whole->context_count);
        assert_int_equal(cut->pair_count, whole->pair_count);
        for (size_t i = 0; i < whole->pair_count; i++) {
            assert_int_equal(cut->pairs[i].reuse_context, whole->pairs[i].reuse_context);
            assert_int_equal(cut->pairs[i].references, whole->pairs[i].references);
        }
        for (size_t i = 0; i < whole->object_count; i++) {
            assert_string_equal(cut->objects[i].name, whole->objects[i].name);
            assert_int_equal(cut->objects[i].references, whole->objects[i].references);
        }
        assert_int_equal(cut->line_count, whole->line_count);
        for (size_t i = 0; i < whole->line_count; i++) {
            assert_int_equal(cut->lines[i].address, whole->lines[i].address);
            assert_int_equal(cut->lines[i].object == NULL, whole->lines[i].object == NULL);
            if (cut->lines[i].object) assert_string_equal(cut->lines[i].object, whole->lines[i].object);
        }
        rsc_profile_free(cut);
    }
    return whole;
}

/* "main>f>g" as numbers: the call pcs of a context, outermost first. */
static const char *path_of(const struct rsc_profile *profile, uint32_t context) {
    static char text[2048];
    char longer[2048];
    text[0] = 0;
    for (; context != RSC_NO_CONTEXT; context = profile->contexts[context].parent) {
        assert_true(context < profile->context_count);
        uint32_t parent = profile->contexts[context].parent;
        assert_true(parent == RSC_NO_CONTEXT || parent < context);
        snprintf(longer, sizeof longer, "%llx%s%.1900s", (unsigned long long)profile->contexts[context].place.pc,
                 text[0] ? ">" : "", text);
        strcpy(text, longer);
    }
    return text;
}

static const struct rsc_pair_row *pair_of(const struct rsc_profile *profile, uint64_t use, uint64_t reuse) {
    for (size_t i = 0; i < profile->pair_count; i++)
        if (profile->pairs[i].use.pc == use && profile->pairs[i].reuse.pc == reuse) return &profile->pairs[i];
    return NULL;
}

static const struct rsc_object_row *object_of(const struct rsc_profile *profile, const char *name) {
    for (size_t i = 0; i < profile->object_count; i++)
        if (!strcmp(profile->objects[i].name, name)) return &profile->objects[i];
    return NULL;
}

/* ---- code, pairs, call paths ---- */

static void pairs_have_both_paths(void **state) {
    (void)state;
    scene_start();
    call(0x100);
    access_at(0x1000, 0x40);
    call(0x200);
    access_at(0x2000, 0x40);
    back_to(0x205);
    access_at(0x1004, 0x40);
    back_to(0x105);
    access_at(0x10, 0x40);
    struct rsc_profile *profile = play();
    const struct rsc_pair_row *pair = pair_of(profile, 0x1000, 0x2000);
    assert_string_equal(path_of(profile, pair->use_context), "100");
    assert_string_equal(path_of(profile, pair->reuse_context), "100>200");
    pair = pair_of(profile, 0x2000, 0x1004);
    assert_string_equal(path_of(profile, pair->reuse_context), "100");
    pair = pair_of(profile, 0x1004, 0x10);
    assert_int_equal(pair->reuse_context, RSC_NO_CONTEXT);
    assert_int_equal(profile->code_count, 4);
    assert_int_equal(profile->object_count, 0); /* nothing is known of any */
    rsc_profile_free(profile);
}

static void one_instruction_by_two_paths(void **state) {
    (void)state;
    scene_start();
    for (int i = 0; i < 10; i++) {
        call(i % 2 ? 0x100 : 0x200);
        access_at(0x1000, 0x40);
        back_to(i % 2 ? 0x105 : 0x205);
    }
    struct rsc_profile *profile = play();
    assert_int_equal(profile->code_count, 1);
    assert_int_equal(profile->code[0].references, 10);
    assert_int_equal(profile->code[0].cold, 1);
    assert_int_equal(profile->pair_count, 2);
    assert_int_equal(profile->pairs[0].references, 5);
    assert_int_equal(profile->pairs[1].references, 4);
    assert_int_equal(profile->context_count, 2);
    rsc_profile_free(profile);
}

/* Two instructions in turn, by two threads each: steps of 8 up, of 4096 down; and one without order. */
static void strides_are_seen(void **state) {
    (void)state;
    scene_start();
    uint64_t at = 1;
    for (uint64_t i = 0; i < 60; i++) {
        access_by(0, 0x1000, 0x100000 + 8 * i);
        access_by(1, 0x1000, 0x900000 + 8 * i);
        access_by(0, 0x1008, 0x800000 - 4096 * i);
        access_by(0, 0x1010, 0x20000000 + 8 * (at = at * 1664525 % 65536));
    }
    struct rsc_profile *whole = play(), *cut = play_in_steps(7);
    int seen = 0;
    for (size_t i = 0; i < whole->code_count; i++) {
        const struct rsc_stride *stride = &whole->code[i].stride;
        for (size_t k = 0; k < cut->code_count; k++) /* rows with as many references may come in any order */
            if (cut->code[k].place.pc == whole->code[i].place.pc)
                assert_memory_equal(&cut->code[k].stride, stride, sizeof *stride);
        assert_int_equal(stride->access_bytes, 8);
        if (whole->code[i].place.pc == 0x1010) assert_true(2 * stride->same < stride->seen);
        else assert_int_equal(stride->same, stride->seen);
        if (whole->code[i].place.pc == 0x1000)
            assert_int_equal(stride->bytes, 8), assert_int_equal(stride->seen, 118), seen++;
        if (whole->code[i].place.pc == 0x1008)
            assert_int_equal(stride->bytes, 4096), assert_int_equal(stride->seen, 59), seen++;
    }
    assert_int_equal(seen, 2);
    rsc_profile_free(whole);
    rsc_profile_free(cut);
}

/* From the top of the address space to its bottom is a short way: -128 to +128, and 2^63 at most. What is written is
 * read again. */
static void strides_across_zero_are_short(void **state) {
    (void)state;
    scene_start();
    for (uint64_t i = 0; i < 8; i++) {
        access_at(0x1000, i % 2 ? 128 : 0 - 128ull);
        access_at(0x2000, i % 2 ? 1ull << 63 : 0);
    }
    struct rsc_profile *profile = play(), *read = NULL;
    struct rsc_error error;
    char *text = NULL;
    size_t bytes = 0;
    assert_int_equal(rsc_profile_json(profile, &text, &bytes, &error), 0);
    assert_int_equal(rsc_profile_parse(&read, text, bytes, "profile", &error), 0);
    assert_int_equal(read->code_count, 2);
    for (size_t i = 0; i < 2; i++) {
        uint64_t way = read->code[i].place.pc == 0x1000 ? 256 : INT64_MAX;
        assert_true(read->code[i].stride.bytes == way && read->code[i].stride.apart == way);
        assert_int_equal(read->code[i].stride.same, 7);
    }
    rsc_text_free(text);
    rsc_profile_free(profile);
    rsc_profile_free(read);
}

/* The data of a pair is what most of its far reuses lie in; near ones do not count. */
static void pairs_have_their_data(void **state) {
    (void)state;
    scene_start();
    map(0x400000, 0x10000, 0, "", "/bin/app");
    call(0x100);
    allocate(0x100000, 64 * 1000);
    back_to(0x105);
    for (int round = 0; round < 2; round++)
        for (uint64_t i = 0; i < 1000; i++) access_at(0x400010, 0x100000 + 64 * i);
    for (int i = 0; i < 5; i++) access_at(0x400020, 0x7000000);
    struct rsc_profile *profile = play();
    int found = 0;
    for (size_t i = 0; i < profile->pair_count; i++) {
        const struct rsc_pair_row *pair = &profile->pairs[i];
        if (pair->reuse.pc == 0x400020) assert_null(pair->object);
        if (pair->reuse.pc != 0x400010) continue;
        assert_string_equal(pair->object, "allocated at 0x100");
        assert_string_equal(pair->object_kind, "heap");
        assert_string_equal(path_of(profile, pair->object_context), "100");
        found++;
    }
    assert_int_equal(found, 1);
    rsc_profile_free(profile);
}

static void frames_left_by_longjmp(void **state) {
    (void)state;
    scene_start();
    call(0x100);
    call(0x200);
    call(0x300);
    call(0x400);
    back_to(0x205); /* to behind 0x200: three frames at once */
    access_at(0x1, 0x40);
    call(0x300);
    back_to(0x999); /* to nowhere known: one frame */
    access_at(0x2, 0x40);
    back_to(0x100 + 16); /* no call is that long: one frame again */
    access_at(0x3, 0x40);
    back_to(0x105); /* on an empty stack */
    call(0x500);
    access_at(0x4, 0x40);
    struct rsc_profile *profile = play();
    assert_string_equal(path_of(profile, pair_of(profile, 0x1, 0x2)->use_context), "100");
    assert_string_equal(path_of(profile, pair_of(profile, 0x1, 0x2)->reuse_context), "100");
    assert_string_equal(path_of(profile, pair_of(profile, 0x2, 0x3)->reuse_context), "");
    assert_string_equal(path_of(profile, pair_of(profile, 0x3, 0x4)->reuse_context), "500");
    rsc_profile_free(profile);
}

static void recursion_folds_and_unfolds(void **state) {
    struct rsc_call_paths paths;
    (void)state;
    assert_int_equal(rsc_call_paths_init(&paths, 65536), 0);
    rsc_call_paths_call(&paths, 3, 0x100);
    uint32_t outer = rsc_call_paths_current(&paths, 3);
    for (int i = 0; i < 100000; i++) assert_int_equal(rsc_call_paths_call(&paths, 3, 0x200), 0);
    assert_int_equal(paths.node_count, 1 + 1 + 1);
    rsc_call_paths_call(&paths, 3, 0x300);
    uint32_t inner = rsc_call_paths_current(&paths, 3);
    assert_int_equal(paths.nodes[inner].depth, 3);
    rsc_call_paths_return(&paths, 3, 0x305);
    for (int i = 0; i < 100000; i++) {
        assert_int_not_equal(rsc_call_paths_current(&paths, 3), outer);
        rsc_call_paths_return(&paths, 3, 0x205);
    }
    assert_int_equal(rsc_call_paths_current(&paths, 3), outer);
    assert_int_equal(rsc_call_paths_current(&paths, 2), RSC_CALL_ROOT);
    assert_int_equal(rsc_call_paths_current(&paths, 1 << 19), RSC_CALL_ROOT);
    /* two functions that call each other: two nodes; the stack goes on */
    for (int i = 0; i < 3000; i++) {
        rsc_call_paths_call(&paths, 3, i % 2 ? 0x400 : 0x500);
        assert_int_equal(paths.nodes[rsc_call_paths_current(&paths, 3)].depth, 2 + i % 2);
    }
    for (int i = 3000; i-- > 0;) rsc_call_paths_return(&paths, 3, i % 2 ? 0x405 : 0x505);
    assert_int_equal(rsc_call_paths_current(&paths, 3), outer);
    /* a path of different calls ends somewhere; the stack goes on */
    for (int i = 0; i < 3000; i++) rsc_call_paths_call(&paths, 3, 0x10000 + 32 * (uint64_t)i);
    assert_int_equal(paths.nodes[rsc_call_paths_current(&paths, 3)].depth, RSC_CALL_DEPTH_MAX);
    for (int i = 3000; i-- > 0;) rsc_call_paths_return(&paths, 3, 0x10005 + 32 * (uint64_t)i);
    assert_int_equal(rsc_call_paths_current(&paths, 3), outer);
    /* and deeper than any stack is kept */
    for (int i = 0; i < 40000; i++) rsc_call_paths_call(&paths, 3, i % 2 ? 0x400 : 0x500);
    for (int i = 40000; i-- > 0;) rsc_call_paths_return(&paths, 3, i % 2 ? 0x405 : 0x505);
    assert_int_equal(rsc_call_paths_current(&paths, 3), outer);
    rsc_call_paths_restart(&paths, 3);
    assert_int_equal(rsc_call_paths_current(&paths, 3), RSC_CALL_ROOT);
    rsc_call_paths_free(&paths);
}

static void full_tree_and_wide_pcs(void **state) {
    struct rsc_call_paths paths;
    (void)state;
    assert_int_equal(rsc_call_paths_init(&paths, 4), 0);
    uint32_t first = rsc_call_paths_child(&paths, RSC_CALL_ROOT, 0xffffffff81000000);
    uint32_t second = rsc_call_paths_child(&paths, RSC_CALL_ROOT, 0x7fff81000000);
    uint32_t third = rsc_call_paths_child(&paths, first, 0xffffffff82000000);
    assert_true(first != second && second != third && first != third);
    assert_int_equal(rsc_call_paths_child(&paths, RSC_CALL_ROOT, 0xffffffff81000000), first);
    assert_int_equal(rsc_call_paths_child(&paths, third, 0x1234), third);
    assert_int_equal(rsc_call_paths_child(&paths, first, 0xffffffff82000000), third);
    assert_int_equal(rsc_call_paths_child(&paths, third, 0xffffffff81000000), first); /* recursion */
    rsc_call_paths_free(&paths);
}

static void threads_have_their_own_stacks(void **state) {
    (void)state;
    scene_start();
    event_by(0, RSC_EVENT_CALL, 0x100, 0);
    event_by(5, RSC_EVENT_CALL, 0x200, 0);
    access_by(0, 0x1, 0x40);
    access_by(5, 0x2, 0x40);
    access_by(0, 0x3, 0x40);
    event_by(5, RSC_EVENT_RETURN, 0x205, 0);
    access_by(5, 0x4, 0x40);
    event_by(0, RSC_EVENT_THREAD_START, 0, 0); /* the number is used again */
    access_by(0, 0x5, 0x40);
    struct rsc_profile *profile = play();
    assert_string_equal(path_of(profile, pair_of(profile, 0x1, 0x2)->use_context), "100");
    assert_string_equal(path_of(profile, pair_of(profile, 0x1, 0x2)->reuse_context), "200");
    assert_string_equal(path_of(profile, pair_of(profile, 0x2, 0x3)->reuse_context), "100");
    assert_string_equal(path_of(profile, pair_of(profile, 0x3, 0x4)->reuse_context), "");
    assert_string_equal(path_of(profile, pair_of(profile, 0x4, 0x5)->reuse_context), "");
    rsc_profile_free(profile);
}

/* ---- objects ---- */

static void an_address_used_by_two_sites(void **state) {
    (void)state;
    scene_start();
    call(0x100);
    allocate(0x10000, 64);
    back_to(0x105);
    access_at(0x1, 0x10000);
    access_at(0x1, 0x10038);
    release(0x10000);
    access_at(0x1, 0x10000); /* after its end: nobody's */
    call(0x200);
    allocate(0x10000, 32);
    allocate(0x10020, 32);
    back_to(0x205);
    access_at(0x1, 0x10000);
    access_at(0x1, 0x1003f);
    release(0xdead0000); /* never allocated */
    release(0x10008);    /* the middle of a block */
    access_at(0x1, 0x10008);
    const uint64_t path[] = {0x300, 0x301};
    allocate_from(0x10010, 8, path, 2); /* over a block that was not released */
    access_at(0x1, 0x10010);
    access_at(0x1, 0x10000);
    access_at(0x1, 0x10020);
    allocate(0x10040, 0);
    access_at(0x1, 0x10040);
    struct rsc_profile *profile = play();
    const struct rsc_object_row *first = object_of(profile, "allocated at 0x100");
    const struct rsc_object_row *second = object_of(profile, "allocated at 0x200");
    const struct rsc_object_row *third = object_of(profile, "allocated at 0x300");
    const struct rsc_object_row *nobody = object_of(profile, "unknown memory");
    const struct rsc_object_row *root = object_of(profile, "heap");
    assert_int_equal(first->references, 2);
    assert_int_equal(first->cold, 1);
    assert_int_equal(first->bytes, 64);
    assert_int_equal(first->blocks, 1);
    assert_string_equal(path_of(profile, first->context), "100");
    assert_int_equal(second->references, 5); /* 8 bytes at 0x1003f are two references */
    assert_int_equal(second->bytes, 64);
    assert_int_equal(second->blocks, 2);
    assert_int_equal(third->references, 1);
    assert_string_equal(path_of(profile, third->context), "301>300");
    assert_int_equal(nobody->references, 1);
    assert_string_equal(nobody->kind, "other");
    assert_int_equal(object_of(profile, "heap between blocks")->references, 1); /* 0x10000, once 0x10010 was a block */
    assert_int_equal(root->references, 1);
    assert_int_equal(root->context, RSC_NO_CONTEXT);
    assert_int_equal(profile->object_count, 6);
    rsc_profile_free(profile);
}

static void peak_is_of_live_bytes(void **state) {
    (void)state;
    scene_start();
    call(0x100);
    for (int round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < 10; i++) allocate(0x10000 + i * 128, 100);
        access_at(0x1, 0x10000 + 128 * (uint64_t)round);
        for (uint64_t i = 0; i < 10; i++) release(0x10000 + i * 128);
    }
    struct rsc_profile *profile = play();
    assert_int_equal(profile->object_count, 1);
    assert_int_equal(profile->objects[0].references, 3);
    assert_int_equal(profile->objects[0].bytes, 1000);
    assert_int_equal(profile->objects[0].blocks, 30);
    rsc_profile_free(profile);
}

static void mapped_files_and_stacks(void **state) {
    (void)state;
    scene_start();
    map(0x400000, 0x1000, 0, "0123456789abcdefghij", "/bin/app");
    map(0x500000, 0x1000, 0x1000, "0123456789abcdefghij", "/bin/app");
    map(0x501000, 0x2000, 0, "", ""); /* its .bss */
    map(0x600000, 0x1000, 0, "", "/data/input");
    map(0x700000, 0x1000, 0, "", "[heap]");
    map(0x800000, 0x1000, 0, "", "[stack]");
    map(0x900000, 0x1000, 0, "", "[stack:17]");
    map(0xa00000, 0x1000, 0, "", "");
    fetch_at(0x400010);
    access_at(0x400010, 0x500048);
    access_at(0x400014, 0x500050);
    access_at(0x400014, 0x502000);
    access_at(0x400014, 0x600000);
    access_at(0x400014, 0x700000);
    access_at(0x400014, 0x800000);
    access_at(0x400014, 0x900000);
    access_at(0x400014, 0xa00000);
    access_at(0x400014, 0xb00000);
    map(0x600800, 0x100, 0, "", "/data/other"); /* cuts the older one in two */
    access_at(0x400014, 0x6007ff);
    access_at(0x400014, 0x600800);
    access_at(0x400014, 0x6008ff);
    access_at(0x400014, 0x600900);
    allocate(0x700000, 16); /* a block inside [heap] comes first */
    access_at(0x400014, 0x700008);
    access_at(0x400014, 0x700010);
    attach(event_by(0, RSC_EVENT_MAP, 0xc00000, 0x1000), "short", 5); /* makes no sense */
    access_at(0x400014, 0xc00000);
    struct rsc_profile *profile = play();
    assert_string_equal(object_of(profile, "/bin/app")->kind, "file");
    assert_int_equal(object_of(profile, "/bin/app")->references, 1);
    assert_string_equal(object_of(profile, "0x500040")->kind, "global");
    assert_int_equal(object_of(profile, "0x500040")->references, 2);
    assert_int_equal(object_of(profile, "0x502000")->references, 1);
    assert_string_equal(object_of(profile, "/data/input")->kind, "file");
    assert_int_equal(object_of(profile, "/data/input")->references, 4); /* an access of 8 bytes at 0x6007ff is two */
    assert_int_equal(object_of(profile, "/data/other")->references, 3);
    assert_string_equal(object_of(profile, "[heap]")->kind, "heap");
    assert_int_equal(object_of(profile, "[heap]")->references, 2);
    assert_int_equal(object_of(profile, "heap")->references, 1);
    assert_string_equal(object_of(profile, "stack")->kind, "stack");
    assert_string_equal(object_of(profile, "stack of thread 17")->kind, "stack");
    assert_string_equal(object_of(profile, "memory without a name")->kind, "other");
    assert_int_equal(object_of(profile, "unknown memory")->references, 2);
    assert_int_equal(profile->mapping_count, 4);
    assert_int_equal(profile->mappings[1].file_offset, 0x1000);
    assert_int_equal(profile->mappings[1].build_id_bytes, 20);
    assert_memory_equal(profile->mappings[1].build_id, "0123456789abcdefghij", 20);
    assert_string_equal(profile->mappings[3].path, "/data/other");
    rsc_profile_free(profile);
}

static void variable(uint64_t start, uint64_t bytes) { event_by(0, RSC_EVENT_VARIABLE, start, bytes); }

/* A large variable is one object, from its first byte to its last, in the file's data and in its .bss. */
static void large_variables_are_one_object(void **state) {
    (void)state;
    scene_start();
    map(0x400000, 0x1000, 0, "", "/bin/app");
    map(0x500000, 0x1000, 0x1000, "", "/bin/app");
    variable(0x500a08, 0x2000); /* reaches into the .bss */
    variable(0x502a08, 0x10000); /* behind it, in the same line */
    map(0x501000, 0x20000, 0, "", "");
    access_at(0x400010, 0x500a00); /* just before: by line */
    for (uint64_t at = 0; at < 0x2000; at += 8) access_at(0x400010, 0x500a08 + at);
    for (uint64_t at = 0; at < 0x10000; at += 64) access_at(0x400010, 0x502a08 + at);
    access_at(0x400010, 0x512a08); /* just behind */
    allocate(0x504000, 64); /* an allocator with a static pool */
    access_at(0x400010, 0x504000);
    release(0x504000);
    access_at(0x400010, 0x504000);
    map(0x500000, 0x1000, 0x1000, "", "/bin/app"); /* the same again: the same objects */
    variable(0x500a08, 0x2000);
    variable(0x502a08, 0x10000);
    access_at(0x400010, 0x500a08);
    map(0x500000, 0x30000, 0, "", "/data/input"); /* in their place */
    access_at(0x400010, 0x500a08);
    struct rsc_profile *profile = play();
    assert_int_equal(object_of(profile, "0x500a00")->references, 1);
    assert_string_equal(object_of(profile, "0x500a08")->kind, "global");
    assert_int_equal(object_of(profile, "0x500a08")->bytes, 0x2000);
    assert_int_equal(object_of(profile, "0x500a08")->references, 0x400 + 1);
    assert_int_equal(object_of(profile, "0x502a08")->bytes, 0x10000);
    assert_int_equal(object_of(profile, "0x502a08")->references, 0x400 + 1);
    assert_int_equal(object_of(profile, "0x512a00")->references, 1);
    assert_int_equal(object_of(profile, "heap")->references, 1);
    assert_int_equal(object_of(profile, "/data/input")->references, 1);
    assert_int_equal(profile->object_count, 6);
    rsc_profile_free(profile);
}

/* A line is named after what lay there when it last missed. */
static void lines_lie_in_objects(void **state) {
    (void)state;
    scene_start();
    map(0x400000, 0x1000, 0, "0123456789abcdefghij", "/bin/app");
    map(0x500000, 0x1000, 0x1000, "0123456789abcdefghij", "/bin/app");
    fetch_at(0x400010);
    call(0x100);
    allocate(0x10000, 64);
    back_to(0x101);
    for (int i = 0; i < 5; i++) access_at(0x400014, 0x10000), access_at(0x400014, 0x500048);
    release(0x10000);
    access_at(0x400014, 0x20000); /* nobody's */
    call(0x200);
    allocate(0x30000, 64);
    back_to(0x201);
    for (int i = 0; i < 3; i++) access_at(0x400014, 0x30000), access_at(0x400014, 0x20000);
    access_at(0x400014, 0x30000);
    access_at(0x400014, 0x30008); /* a hit: says nothing new */
    top_lines = 4;
    struct rsc_profile *profile = play();
    top_lines = 0;
    assert_int_equal(profile->line_count, 4);
    assert_int_equal(profile->lines_at_bytes, 64);
    assert_int_equal(profile->lines[0].address, 0x10000);
    assert_int_equal(profile->lines[0].misses, 5);
    assert_string_equal(profile->lines[0].object, "allocated at 0x100");
    assert_string_equal(profile->lines[0].object_kind, "heap");
    assert_string_equal(path_of(profile, profile->lines[0].context), "100");
    assert_int_equal(profile->lines[1].address, 0x500040);
    assert_string_equal(profile->lines[1].object, "0x500040");
    assert_string_equal(profile->lines[1].object_kind, "global");
    assert_int_equal(profile->lines[2].address, 0x20000);
    assert_int_equal(profile->lines[2].misses, 4);
    assert_null(profile->lines[2].object);
    assert_int_equal(profile->lines[3].address, 0x30000);
    assert_int_equal(profile->lines[3].misses, 4);
    assert_int_equal(profile->lines[3].references, 5);
    assert_string_equal(profile->lines[3].object, "allocated at 0x200");
    rsc_profile_free(profile);
}

static void code_shows_what_is_a_program(void **state) {
    (void)state;
    scene_start();
    map(0x400000, 0x1000, 0, "", "/bin/app"); /* no build id */
    map(0x500000, 0x1000, 0x1000, "", "/bin/app");
    access_at(0x400010, 0x500048);
    struct rsc_profile *profile = play();
    assert_string_equal(object_of(profile, "0x500040")->kind, "global");
    rsc_profile_free(profile);
}

/* Blocks at random against a plain array of owners. */
static void random_blocks(void **state) {
    struct rsc_objects *objects = malloc(sizeof *objects);
    enum { BYTES = 4096, SITES = 50 };
    static uint32_t owner[BYTES], start_of[BYTES]; /* site + 1; start + 1 */
    const uint64_t base = 0x7f0000000fc0;
    (void)state;
    assert_int_equal(rsc_objects_init(objects, SITES), 0);
    srand(7);
    for (int i = 0; i < 20000; i++) {
        uint32_t at = (uint32_t)rand() % BYTES, bytes = 1 + (uint32_t)rand() % (rand() % 4 ? 100 : 1000);
        if (bytes > BYTES - at) bytes = BYTES - at;
        if (rand() % 3) {
            uint32_t site = (uint32_t)rand() % SITES;
            for (uint32_t b = at; b < at + bytes; b++) {
                uint32_t gone = start_of[b];
                for (uint32_t k = 0; gone && k < BYTES; k++)
                    if (start_of[k] == gone) owner[k] = start_of[k] = 0;
            }
            for (uint32_t b = at; b < at + bytes; b++) owner[b] = site + 1, start_of[b] = at + 1;
            assert_int_equal(rsc_objects_add_block(objects, base + at, bytes, site), 0);
        } else {
            for (uint32_t k = 0; k < BYTES; k++)
                if (start_of[k] == at + 1) owner[k] = start_of[k] = 0;
            rsc_objects_remove_block(objects, base + at);
        }
        for (int probe = 0; probe < 20; probe++) {
            uint32_t b = (uint32_t)rand() % BYTES;
            uint64_t key = rsc_objects_find(objects, base + b, 0);
            /* memory of nobody is the heap's if a block is in its line or in one beside it */
            int between = 0;
            for (int64_t k = (int64_t)(b & ~63u) - 64; k < (int64_t)(b & ~63u) + 128; k++)
                between |= k >= 0 && k < BYTES && owner[k];
            assert_int_equal(rsc_object_sort(key), owner[b] || between ? RSC_OBJECT_HEAP : RSC_OBJECT_UNKNOWN);
            if (owner[b] || between)
                assert_int_equal(rsc_object_number(key), owner[b] ? owner[b] - 1 : RSC_HEAP_BETWEEN);
        }
    }
    rsc_objects_free(objects);
    free(objects);
}

/* More objects than there are numbers in the sums, and sums that leave all the time. */
static void few_numbers_and_sums(void **state) {
    enum { SITES = 100, TIMES = 7 };
    (void)state;
    for (uint32_t numbers = 2; numbers < 150; numbers += 49) {
        struct rsc_attribution_options options = {.numbers = numbers, .sum_bits = 1};
        struct rsc_attribution *attribution;
        struct rsc_profile *profile = rsc_profile_new();
        uint32_t tags[SITES * TIMES], from[SITES * TIMES], rd[SITES * TIMES], last_tag[SITES * TIMES];
        scene_start();
        for (uint64_t site = 0; site < SITES; site++) {
            uint64_t path[] = {0x400000 + 16 * site};
            allocate_from(0x10000 + 64 * site, 64, path, 1);
        }
        for (uint32_t i = 0; i < SITES * TIMES; i++) {
            access_at(0x500000, 0x10000 + 64 * (i % SITES));
            from[i] = i;
            rd[i] = i < SITES ? UINT32_MAX : 1000 + i % SITES; /* known, whatever the addresses say */
        }
        struct rsc_batch batch = {.count = scene.count,
                                  .addr = scene.addr,
                                  .meta = scene.meta,
                                  .pc = scene.pc,
                                  .events = scene.events,
                                  .event_count = scene.event_count,
                                  .instructions = RSC_UNKNOWN};
        assert_int_equal(rsc_attribution_new(&attribution, &options, NULL), 0);
        assert_int_equal(rsc_attribution_tags(attribution, &batch, tags), 0);
        for (uint32_t i = 0; i < SITES * TIMES; i++) last_tag[i] = i < SITES ? RSC_TAG_NONE : tags[0];
        assert_int_equal(rsc_attribution_count(attribution, &batch, 0, from, tags, rd, last_tag, scene.count), 0);
        assert_int_equal(rsc_attribution_fill(attribution, profile), 0);
        assert_int_equal(profile->object_count, SITES);
        for (size_t i = 0; i < SITES; i++) {
            assert_int_equal(profile->objects[i].references, TIMES);
            assert_int_equal(profile->objects[i].cold, 1);
        }
        assert_int_equal(profile->code_count, 1);
        assert_int_equal(profile->code[0].references, SITES * TIMES);
        assert_int_equal(profile->pair_count, 1);
        assert_int_equal(profile->pairs[0].references, SITES * (TIMES - 1));
        assert_string_equal(profile->pairs[0].object_kind, "heap");
        rsc_attribution_free(attribution);
        rsc_profile_free(profile);
    }
}

/* ---- the engine ---- */

static struct rsc_profile *analyse_plain(size_t struct_bytes, uint32_t attribute, int with_pcs) {
    struct rsc_engine_options options = {.struct_bytes = struct_bytes, .attribute = attribute};
    const uint64_t addr[] = {0x40, 0x80, 0x40}, meta[] = {1, 1, 1}, pc[] = {1, 2, 3};
    struct rsc_event event = {.type = RSC_EVENT_ALLOC, .a = 0x40, .b = 64};
    struct rsc_batch early = {.events = &event, .event_count = 1, .instructions = RSC_UNKNOWN};
    struct rsc_batch batch = {
        .count = 3, .addr = addr, .meta = meta, .pc = with_pcs ? pc : NULL, .instructions = RSC_UNKNOWN};
    struct rsc_engine *engine;
    struct rsc_profile *profile;
    assert_int_equal(rsc_engine_new(&engine, &options, NULL), 0);
    assert_int_equal(rsc_engine_push(engine, &early, NULL), 0);
    assert_int_equal(rsc_engine_push(engine, &batch, NULL), 0);
    assert_int_equal(rsc_engine_finish(engine, &profile, NULL), 0);
    rsc_engine_free(engine);
    return profile;
}

static void wanted_or_not(void **state) {
    static const struct {
        uint32_t attribute;
        int pcs;
        size_t rows;
    } cases[] = {{0, 1, 3}, {0, 0, 0}, {1, 1, 3}, {1, 0, 1}, {2, 1, 0}, {2, 0, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rsc_profile *profile =
            analyse_plain(sizeof(struct rsc_engine_options), cases[i].attribute, cases[i].pcs);
        assert_int_equal(profile->code_count, cases[i].rows);
        assert_int_equal(profile->object_count, cases[i].rows ? 2 : 0); /* events before the first access count */
        rsc_profile_free(profile);
    }
    /* a caller built before there was the choice: what lies behind its struct is not read */
    struct rsc_profile *profile = analyse_plain(offsetof(struct rsc_engine_options, attribute), 2, 1);
    assert_int_equal(profile->code_count, 3);
    rsc_profile_free(profile);
    struct rsc_engine_options bad = {.struct_bytes = sizeof bad, .attribute = 3};
    struct rsc_engine *engine;
    assert_int_equal(rsc_engine_new(&engine, &bad, NULL), RSC_EINVAL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_have_both_paths),
        cmocka_unit_test(one_instruction_by_two_paths),
        cmocka_unit_test(strides_are_seen),
        cmocka_unit_test(strides_across_zero_are_short),
        cmocka_unit_test(pairs_have_their_data),
        cmocka_unit_test(frames_left_by_longjmp),
        cmocka_unit_test(recursion_folds_and_unfolds),
        cmocka_unit_test(full_tree_and_wide_pcs),
        cmocka_unit_test(threads_have_their_own_stacks),
        cmocka_unit_test(an_address_used_by_two_sites),
        cmocka_unit_test(peak_is_of_live_bytes),
        cmocka_unit_test(mapped_files_and_stacks),
        cmocka_unit_test(large_variables_are_one_object),
        cmocka_unit_test(lines_lie_in_objects),
        cmocka_unit_test(code_shows_what_is_a_program),
        cmocka_unit_test(random_blocks),
        cmocka_unit_test(few_numbers_and_sums),
        cmocka_unit_test(wanted_or_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
