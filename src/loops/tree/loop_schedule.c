/* loop_schedule.c - how the loops of a region are shared among threads, in words. */
#include <stdio.h>
#include <string.h>

#include "loops/tree/loop_tree.h"

static void add_schedule(char *text, size_t room, const char *one) {
    size_t used = strlen(text), length = strlen(one);
    for (const char *at = text; (at = strstr(at, one)); at += length) /* said already? */
        if ((at == text || at[-1] == ' ') && (at[length] == ';' || !at[length])) return;
    snprintf(text + used, room - used, "%s%s", used ? "; " : "", one);
}

static void collect_schedules(const struct rsc_loop_node *node, char *text, size_t room) {
    if (node->kind == RSC_NODE_LOOP && node->share) {
        char one[80];
        int used = snprintf(one, sizeof one, "%s", rsc_schedule_name(node->schedule));
        if (node->chunk)
            used += snprintf(one + used, sizeof one - (size_t)used, ",%llu", (unsigned long long)node->chunk);
        if (node->collapse > 1)
            used += snprintf(one + used, sizeof one - (size_t)used, " collapse(%u)", node->collapse);
        if (node->nowait) snprintf(one + used, sizeof one - (size_t)used, " nowait");
        add_schedule(text, room, one);
    }
    for (uint32_t i = 0; i < node->child_count; i++) collect_schedules(node->child[i], text, room);
}

void rsc_loop_region_schedule(const struct rsc_loop_region *region, char *text, size_t room) {
    text[0] = '\0';
    collect_schedules(region->root, text, room);
    if (!text[0]) snprintf(text, room, "sequential");
}
