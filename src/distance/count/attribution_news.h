/*
 * attribution_news.h - what tagging a batch finds out that counting its references needs to know: code that ran for the
 * first time, changes to objects, and accesses in windows for strides.
 *
 * Tagging and counting may be in two threads. Tagging writes news and counting reads them, so that each has its own
 * half of struct rsc_attribution: call paths and groups of places are tagging's; objects, rows and sums are counting's,
 * which reads groups only by the tags it was given.
 */
#ifndef RSC_DISTANCE_COUNT_ATTRIBUTION_NEWS_H
#define RSC_DISTANCE_COUNT_ATTRIBUTION_NEWS_H

#include <reusescope/trace.h>

/* An ALLOC, FREE, MAP or VARIABLE event of the batch. */
struct object_change {
    uint32_t at; /* before this access */
    uint16_t type;
    uint16_t is_data;
    uint32_t number; /* ALLOC: call-path node; MAP: name */
    uint64_t start, bytes;
};

struct news_item {
    enum { NEWS_BATCH, NEWS_CODE, NEWS_CHANGE, NEWS_WINDOW, NEWS_ACCESS } what; /* BATCH: the next one begins */
    union {
        uint64_t pc; /* NEWS_CODE: the first of its chunk */
        struct {
            struct object_change change;
            struct rsc_event *map; /* MAP: a copy of the event; owned */
        };
        struct { /* NEWS_ACCESS, of the window that began last */
            uint32_t tag, thread, bytes;
            uint64_t address;
        };
    };
};

/* Of one batch or several. */
struct rsc_attribution_news {
    struct news_item *items; /* in order; owned */
    size_t count, room;
    int has_fetches; /* some access may be one */
};

/* A new item at the end; NULL: out of memory. */
struct news_item *rsc_news_add(struct rsc_attribution_news *news, int what);

/* A copy of an event with its data, to be freed; NULL: out of memory. */
struct rsc_event *rsc_news_copy_event(const struct rsc_event *event);

/* A zeroed struct may always be freed. */
void rsc_news_free(struct rsc_attribution_news *news);

#endif
