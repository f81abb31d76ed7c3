/* attribution_news.c - see attribution_news.h. */
#include "distance/count/attribution_news.h"

#include <stdlib.h>
#include <string.h>

struct news_item *rsc_news_add(struct rsc_attribution_news *news, int what) {
    if (news->count == news->room) {
        size_t room = news->room ? 2 * news->room : 64;
        struct news_item *items = realloc(news->items, room * sizeof *items);
        if (!items) return NULL;
        news->items = items;
        news->room = room;
    }
    struct news_item *item = &news->items[news->count++];
    memset(item, 0, sizeof *item);
    item->what = what;
    return item;
}

struct rsc_event *rsc_news_copy_event(const struct rsc_event *event) {
    struct rsc_event *copy = malloc(sizeof *copy + event->data_bytes);
    if (!copy) return NULL;
    *copy = *event;
    if (event->data_bytes) memcpy(copy + 1, event->data, event->data_bytes);
    copy->data = copy + 1;
    return copy;
}

void rsc_news_free(struct rsc_attribution_news *news) {
    for (size_t i = 0; i < news->count; i++)
        if (news->items[i].what == NEWS_CHANGE) free(news->items[i].map);
    free(news->items);
    memset(news, 0, sizeof *news);
}
