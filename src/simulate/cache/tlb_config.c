/* tlb_config.c - see tlb_config.h. */
#include "simulate/cache/tlb_config.h"

#include <stdio.h>
#include <string.h>

#include <reusescope/trace.h>

#include "base/fail.h"
#include "base/numbers.h"

const char *const rsc_tlb_names[RSC_TLB_NAMES] = {"tlb", "itlb", "dtlb", "tlb2", "itlb2", "dtlb2"};

#define ENTRIES_MAX (1u << 24)
#define WAYS_MAX 65535u

int rsc_tlb_name_is(const char *name) {
    for (size_t i = 0; i < RSC_TLB_NAMES; i++)
        if (!strcmp(rsc_tlb_names[i], name)) return 1;
    return 0;
}

static int refuse(const char *name, const char *text, struct rsc_error *error, const char *why) {
    return rsc_fail(error, RSC_EINVAL, "--%s %.60s: %s", name, text, why);
}

int rsc_pages_parse(uint64_t *pages, const char *text, size_t length, char between) {
    *pages = 0;
    for (const char *end = text + length;; text++) {
        const char *comma = memchr(text, between, (size_t)(end - text));
        size_t word = (size_t)((comma ? comma : end) - text);
        uint64_t page;
        if (rsc_parse_u64(text, word, &page) < 0 || page < RSC_PAGE_MIN || page > RSC_PAGE_MAX || (page & (page - 1)) ||
            (*pages & page))
            return -1;
        *pages |= page;
        text += word;
        if (!comma) return 0;
    }
}

/* Parses a word after the geometry. Returns whether it is one. */
static int parse_word(struct rsc_tlb_config *config, const char *word, size_t length) {
    uint64_t threads;
    int policy = rsc_policy_named(word, length);
    if (policy >= 0 && policy != RSC_POLICY_OPT) config->policy = (enum rsc_policy)policy;
    else if (length == 7 && !memcmp(word, "private", 7)) config->threads_each = 1;
    else if (length == 6 && !memcmp(word, "shared", 6)) config->threads_each = 0;
    else if (length > 4 && !memcmp(word, "per=", 4) && rsc_parse_u64(word + 4, length - 4, &threads) == 0 && threads &&
             threads <= RSC_THREADS_MAX)
        config->threads_each = (uint32_t)threads;
    else return 0;
    return 1;
}

int rsc_tlb_config_parse(struct rsc_tlb_config *config, const char *name, const char *text, struct rsc_error *error) {
    static const char form[] = "not ENTRIES,WAYS,PAGE[+PAGE...][,POLICY], as 1536,12,4K+2M";
    uint64_t entries, ways;
    const char *rest = text;
    memset(config, 0, sizeof *config);
    snprintf(config->name, sizeof config->name, "%s", name);
    config->level = name[strlen(name) - 1] == '2' ? 2 : 1;
    config->kinds = name[0] == 'i'   ? RSC_KIND_BIT(RSC_FETCH)
                    : name[0] == 'd' ? RSC_KIND_BIT(RSC_READ) | RSC_KIND_BIT(RSC_WRITE)
                                     : RSC_KINDS_ALL;
    size_t length = strcspn(rest, ",");
    if (rsc_parse_u64(rest, length, &entries) < 0 || rest[length] != ',') return refuse(name, text, error, form);
    rest += length + 1;
    length = strcspn(rest, ",");
    if (rsc_parse_u64(rest, length, &ways) < 0 || rest[length] != ',') return refuse(name, text, error, form);
    rest += length + 1;
    length = strcspn(rest, ",");
    if (rsc_pages_parse(&config->pages, rest, length, '+') < 0)
        return refuse(name, text, error, "pages are powers of two from 4K to 1G, as 4K or 4K+2M");
    for (rest += length; *rest == ','; rest += length) {
        length = strcspn(++rest, ",");
        if (!parse_word(config, rest, length))
            return rsc_fail(error, RSC_EINVAL,
                            "--%s %.60s: %.*s: not a policy (lru, random, fifo, plru, nru, srrip, brrip, drrip), "
                            "private, per=N or shared",
                            name, text, (int)(length < 40 ? length : 40), rest);
    }
    if (!ways || ways > WAYS_MAX || !entries || entries > ENTRIES_MAX || entries % ways)
        return refuse(name, text, error, "entries (up to 16M) must be a multiple of the ways (up to 65535)");
    config->entries = (uint32_t)entries;
    config->ways = (uint32_t)ways;
    return 0;
}

void rsc_tlb_config_text(const struct rsc_tlb_config *config, uint64_t pages, char *text, size_t room) {
    size_t used = (size_t)snprintf(text, room, "%u,%u", config->entries, config->ways);
    char between = ',', size[24];
    for (uint64_t page = RSC_PAGE_MIN; page <= RSC_PAGE_MAX && used < room; page *= 2) {
        if (!(pages & page)) continue;
        rsc_size_text(page, size);
        used += (size_t)snprintf(text + used, room - used, "%c%s", between, size);
        between = '+';
    }
    if (used < room) used += (size_t)snprintf(text + used, room - used, ",%s", rsc_policy_names[config->policy]);
    if (used < room && config->threads_each == 1) snprintf(text + used, room - used, ",private");
    if (used < room && config->threads_each > 1) snprintf(text + used, room - used, ",per=%u", config->threads_each);
}

int rsc_tlb_configs_check(const struct rsc_tlb_config *tlbs, size_t count, uint64_t pages, struct rsc_error *error) {
    uint64_t held = 0;
    char size[24];
    for (size_t i = 0; i < count; i++) {
        held |= tlbs[i].pages;
        for (size_t k = 0; k < i; k++)
            if (tlbs[k].level == tlbs[i].level && (tlbs[k].kinds & tlbs[i].kinds) &&
                (tlbs[k].pages & tlbs[i].pages & pages)) {
                rsc_size_text(tlbs[k].pages & tlbs[i].pages & pages & -(tlbs[k].pages & tlbs[i].pages & pages), size);
                return rsc_fail(error, RSC_EINVAL, "--%s and --%s hold pages of %s for the same accesses", tlbs[k].name,
                                tlbs[i].name, size);
            }
    }
    uint64_t without = pages & ~held;
    if (!without) return 0;
    rsc_size_text(without & -without, size);
    return rsc_fail(error, RSC_EINVAL, "--pages %s: no TLB for pages of that size is given: --dtlb 64,4,%s", size,
                    size);
}
