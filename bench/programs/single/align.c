/* align.c - the edit distance of two sequences by two rows, then by a whole table that is traced back. */
#include "program.h"

static int least(int a, int b, int c) { return a < b ? (a < c ? a : c) : (b < c ? b : c); }

int main(int argc, char **argv) {
    long first = sized(argc, argv, 60000), second = 2000;
    char *a = memory((size_t)first), *b = memory((size_t)second);
    int *above = memory((size_t)(second + 1) * sizeof *above), *row = memory((size_t)(second + 1) * sizeof *row),
        *other;
    for (long i = 0; i < first; i++) a[i] = (char)(any() % 4);
    for (long j = 0; j < second; j++) b[j] = (char)(any() % 4);
    for (long i = 0; i < first; i++, other = above, above = row, row = other) {
        row[0] = (int)i + 1;
        for (long j = 0; j < second; j++) row[j + 1] = least(above[j] + (a[i] != b[j]), above[j + 1] + 1, row[j] + 1);
    }
    long rows = first < 2000 ? first : 2000, steps = 0;
    int(*table)[2001] = memory((size_t)(rows + 1) * sizeof *table);
    for (long i = 0; i < rows; i++)
        for (long j = 0; j < second; j++)
            table[i + 1][j + 1] = least(table[i][j] + (a[i] != b[j]), table[i][j + 1] + 1, table[i + 1][j] + 1);
    for (long i = rows, j = second; i && j; steps++) {
        int up = table[i - 1][j], left = table[i][j - 1], both = table[i - 1][j - 1];
        if (both <= up && both <= left) i--, j--;
        else if (up < left) i--;
        else j--;
    }
    printf("%d %ld\n", above[second], steps);
    return 0;
}
