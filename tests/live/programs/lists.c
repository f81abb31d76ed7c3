/* A linked list, a stencil and a little libc: its code's accesses are counted by two observers. */
#include <stdio.h>
#include <stdlib.h>

struct node {
    struct node *next;
    long value;
};
static double grid[64][64];

int main(void) {
    struct node *head = NULL;
    long sum = 0;
    for (int i = 0; i < 500; i++) {
        struct node *node = malloc(sizeof *node);
        if (!node) return 1;
        node->next = head;
        node->value = i * 7 % 13;
        head = node;
    }
    for (int round = 0; round < 3; round++)
        for (struct node *node = head; node; node = node->next) sum += node->value;
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 64; j++) grid[i][j] = i * j;
    for (int i = 1; i < 63; i++)
        for (int j = 1; j < 63; j++)
            grid[i][j] = (grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1]) / 4;
    while (head) {
        struct node *next = head->next;
        free(head);
        head = next;
    }
    printf("%ld %.3f\n", sum, grid[31][31]);
    return 0;
}
