/*
 * balanced_tree.h - reuse distance as papers before 002 compute it, for comparison: a hash
 * table from lines to nodes, and a splay tree of the last uses in their order.
 *
 * A node stands for a line; its place in the tree is that of its last use. The distance of a
 * reuse is the number of nodes to the right of the line's own, which then moves to the end.
 * Splaying keeps the tree balanced in the amortised sense: O(log lines) per reference.
 */
#ifndef RSC_BENCH_BALANCED_TREE_H
#define RSC_BENCH_BALANCED_TREE_H

#include <stdint.h>
#include <stdlib.h>

#include "base/u64_table.h"

#define TREE_COLD UINT32_MAX

/* Node 0 is none: its size is 0. */
struct tree_node {
    uint32_t parent, child[2], size;
};

struct tree {
    struct rsc_u64_table table; /* line -> node */
    struct tree_node *nodes;    /* owned */
    uint32_t root, used;
};

static inline int tree_init(struct tree *tree, uint32_t lines) {
    tree->root = tree->used = 0;
    tree->nodes = calloc((size_t)lines + 1, sizeof *tree->nodes);
    return tree->nodes ? rsc_u64_table_init(&tree->table, 1024) : -1;
}

static inline void tree_free(struct tree *tree) {
    rsc_u64_table_free(&tree->table);
    free(tree->nodes);
}

static inline void tree_attach(struct tree_node *nodes, uint32_t parent, int side, uint32_t child) {
    nodes[parent].child[side] = child;
    if (child) nodes[child].parent = parent;
}

static inline void tree_measure(struct tree_node *nodes, uint32_t at) {
    nodes[at].size = 1 + nodes[nodes[at].child[0]].size + nodes[nodes[at].child[1]].size;
}

static inline void tree_rotate(struct tree_node *nodes, uint32_t at) {
    uint32_t parent = nodes[at].parent, above = nodes[parent].parent;
    int side = nodes[parent].child[1] == at;
    tree_attach(nodes, parent, side, nodes[at].child[!side]);
    tree_attach(nodes, at, !side, parent);
    nodes[at].parent = above;
    if (above) nodes[above].child[nodes[above].child[1] == parent] = at;
    tree_measure(nodes, parent);
    tree_measure(nodes, at);
}

/* Makes `at` the root of the tree it is in. */
static inline void tree_splay(struct tree_node *nodes, uint32_t at) {
    for (uint32_t parent; (parent = nodes[at].parent);) {
        uint32_t above = nodes[parent].parent;
        if (above) {
            int same = (nodes[parent].child[1] == at) == (nodes[above].child[1] == parent);
            tree_rotate(nodes, same ? parent : at);
        }
        tree_rotate(nodes, at);
    }
}

/* The two in one; everything in `left` comes first. */
static inline uint32_t tree_join(struct tree_node *nodes, uint32_t left, uint32_t right) {
    if (!left || !right) return left ? left : right;
    nodes[left].parent = nodes[right].parent = 0;
    while (nodes[left].child[1]) left = nodes[left].child[1];
    tree_splay(nodes, left);
    tree_attach(nodes, left, 1, right);
    tree_measure(nodes, left);
    return left;
}

/* A use of `line`: the distance to its last one, or TREE_COLD. Lines are no more than tree_init was given. */
static inline int tree_use(struct tree *tree, uint64_t line, uint32_t *distance) {
    struct tree_node *nodes = tree->nodes;
    struct rsc_u64_entry *entry = rsc_u64_table_find(&tree->table, line);
    uint32_t at = (uint32_t)entry->value, rest = tree->root;
    *distance = TREE_COLD;
    if (at) {
        tree_splay(nodes, at);
        *distance = nodes[nodes[at].child[1]].size;
        rest = tree_join(nodes, nodes[at].child[0], nodes[at].child[1]);
    } else {
        if (rsc_u64_table_needs_rebuild(&tree->table)) {
            if (rsc_u64_table_rebuild(&tree->table) < 0) return -1;
            entry = rsc_u64_table_find(&tree->table, line);
        }
        at = ++tree->used;
        *entry = (struct rsc_u64_entry){.key = line, .value = at};
        tree->table.used++;
    }
    nodes[at] = (struct tree_node){0};
    tree_attach(nodes, at, 0, rest);
    tree_measure(nodes, at);
    tree->root = at;
    return 0;
}

#endif
