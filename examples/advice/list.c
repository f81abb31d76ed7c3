/*
 * list.c - a linked list in a pool, walked again and again: linked in no order, and in
 * the order the nodes lie in. An example of docs/guide/advice.md.
 *
 *     list before|after [NODES [PASSES]]     1,000,000 nodes, 10 passes if not given
 *
 * Four nodes share a line of memory. In no order, each step fetches a line for one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct node {
    struct node *next;
    long value;
};

static long walk(const struct node *head, long passes) {
    long sum = 0;
    for (long pass = 0; pass < passes; pass++)
        for (const struct node *at = head; at; at = at->next)
            sum += at->value;
    return sum;
}

/* The nodes of the pool in a list: in order, or each after another drawn one. */
static struct node *link_nodes(struct node *pool, long *order, long count, int in_order) {
    unsigned long drawn = 1;
    for (long i = 0; i < count; i++) order[i] = i;
    for (long i = count - 1; i > 0 && !in_order; i--) {
        drawn = drawn * 6364136223846793005ul + 1442695040888963407ul;
        long other = (long)((drawn >> 33) % (unsigned long)(i + 1)), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    for (long i = 0; i < count; i++)
        pool[order[i]] = (struct node){i + 1 < count ? &pool[order[i + 1]] : NULL, i % 13};
    return &pool[order[0]];
}

int main(int argc, char **argv) {
    long count = argc > 2 ? atol(argv[2]) : 1000000, passes = argc > 3 ? atol(argv[3]) : 10;
    int in_order = argc > 1 && !strcmp(argv[1], "after");
    if (argc < 2 || (!in_order && strcmp(argv[1], "before")) || count < 1 || count > 1 << 26) {
        fprintf(stderr, "usage: list before|after [NODES [PASSES]]\n");
        return 2;
    }
    struct node *pool = malloc((size_t)count * sizeof *pool);
    long *order = malloc((size_t)count * sizeof *order);
    if (!pool || !order) return 1;
    struct node *head = link_nodes(pool, order, count, in_order);
    clock_t start = clock();
    long sum = walk(head, passes);
    fprintf(stderr, "%.3f s\n", (double)(clock() - start) / CLOCKS_PER_SEC);
    printf("the list sums up to %ld\n", sum);
    free(pool);
    free(order);
    return 0;
}
