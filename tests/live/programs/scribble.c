/*
 * scribble SEED WHERE: writes over the memory that it shares with the tool while two threads work: its head, notes,
 * the heads of its slots (slots, published, consumed, state), blocks (heads and words), plans, what it watches itself
 * (watch, streams, living and records), or everywhere. It ends by itself, unless that makes the recorder fail in it.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/ring/ring.h"

static volatile int cells[4096];
static uint64_t state;

static uint64_t draw(void) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}

__attribute__((noinline)) static void work(int rounds) {
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < 4096; i++) cells[i] ^= i;
}

static void *worker(void *argument) {
    work(200);
    return argument;
}

static struct rsc_ring *find_ring(void) {
    char line[512];
    struct rsc_ring *found = NULL;
    FILE *maps = fopen("/proc/thread-self/maps", "r"); /* of /proc/self/maps QEMU shows the guest its own part */
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long start, stop;
        if (strstr(line, "memfd:reusescope ") && sscanf(line, "%lx-%lx", &start, &stop) == 2 &&
            stop - start >= sizeof *found)
            found = (struct rsc_ring *)start;
    }
    if (maps) fclose(maps);
    return found;
}

static void scribble(struct rsc_ring *ring, const char *where) {
    struct rsc_slot *slot = &ring->slots[draw() % 3];
    struct rsc_block *block = &slot->blocks[draw() % RSC_RING_BLOCKS];
    struct rsc_watch_stream *stream = &ring->watch.streams[draw() % 3];
    const uint64_t value = draw() % 4 ? draw() >> draw() % 64 : draw() % 2 ? 0 : ~0ull;
    uint64_t *at = (uint64_t *)ring + draw() % (sizeof *ring / 8);
    if (!strcmp(where, "head")) at = (uint64_t *)ring + draw() % 512;
    if (!strcmp(where, "notes")) at = (uint64_t *)ring->notes + draw() % 512;
    if (!strcmp(where, "slots")) at = (uint64_t *)slot + draw() % 32;
    if (!strcmp(where, "published")) at = &slot->published;
    if (!strcmp(where, "consumed")) at = &slot->consumed;
    if (!strcmp(where, "state")) at = (uint64_t *)slot;
    if (!strcmp(where, "heads")) at = (uint64_t *)block + draw() % 32;
    if (!strcmp(where, "words")) at = &block->words[draw() % RSC_BLOCK_WORDS];
    if (!strcmp(where, "plans")) at = &ring->plans[draw() % 4096];
    if (!strcmp(where, "watch")) at = (uint64_t *)&ring->watch + draw() % 16;
    if (!strcmp(where, "streams")) at = (uint64_t *)stream + draw() % 40;
    if (!strcmp(where, "records")) at = &stream->words[draw() % 512];
    if (!strcmp(where, "living")) { /* threads that there are not: of the tool's parent, of the first process, of none */
        const pid_t named[] = {getppid(), 1, 0, -1};
        stream = &ring->watch.streams[8 + draw() % 8];
        stream->pid = stream->tid = slot[8].pid = slot[8].tid = (uint32_t)named[draw() % 4];
        stream->generation = slot[8].generation = 1;
        stream->state = slot[8].state = RSC_SLOT_LIVE;
        ring->slots_used = ring->watch.streams_used = 16;
        return;
    }
    __atomic_store_n(at, value, __ATOMIC_RELAXED);
}

int main(int argc, char **argv) {
    struct rsc_ring *ring = find_ring();
    pthread_t thread;
    if (argc < 3 || !ring) return 2;
    state = strtoull(argv[1], NULL, 0) * 0x9e3779b97f4a7c15ull + 1;
    pthread_create(&thread, NULL, worker, NULL);
    work(50);
    for (int round = 0; round < 200; round++) {
        scribble(ring, argv[2]);
        work(1);
    }
    pthread_join(thread, NULL);
    puts("done");
    return 0;
}
