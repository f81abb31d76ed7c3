/* treap.c - an ordered map: random insertions, look-ups and deletions of the least key, nodes from the heap. */
#include "program.h"

struct node {
    uint64_t key, rank, value;
    struct node *left, *right;
};

static struct node *merge(struct node *a, struct node *b) {
    if (!a || !b) return a ? a : b;
    if (a->rank > b->rank) {
        a->right = merge(a->right, b);
        return a;
    }
    b->left = merge(a, b->left);
    return b;
}

static void split(struct node *node, uint64_t key, struct node **less, struct node **rest) {
    if (!node) {
        *less = *rest = NULL;
    } else if (node->key < key) {
        split(node->right, key, &node->right, rest);
        *less = node;
    } else {
        split(node->left, key, less, &node->left);
        *rest = node;
    }
}

int main(int argc, char **argv) {
    long steps = sized(argc, argv, 600000);
    struct node *root = NULL, *less, *rest;
    uint64_t sum = 0;
    for (long i = 0; i < steps; i++) {
        struct node *made = memory(sizeof *made);
        made->key = any();
        made->rank = any();
        split(root, made->key, &less, &rest);
        root = merge(merge(less, made), rest);
        for (int look = 0; look < 3; look++) {
            uint64_t key = any();
            const struct node *at = root;
            while (at && at->key != key) {
                sum += at->value;
                at = key < at->key ? at->left : at->right;
            }
        }
        if (i < 50000) continue;
        struct node **least = &root;
        while ((*least)->left) least = &(*least)->left;
        struct node *gone = *least;
        *least = gone->right;
        sum += gone->rank;
        free(gone);
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
