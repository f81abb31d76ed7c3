/*
 * until.c - sweeps over 4 MiB until the file it is told of exists. With a second
 * file it makes that, if it is not there, and ends after twenty sweeps.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    enum { CELLS = 1 << 20 };
    unsigned *cells = calloc(CELLS, sizeof *cells), sum = 0, sweeps = -1u;
    if (argc < 2 || !cells) return 2;
    if (argc > 2 && open(argv[2], O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666) >= 0) sweeps = 20;
    for (unsigned sweep = 1; sweep <= sweeps && access(argv[1], F_OK) != 0; sweep++)
        for (unsigned i = 0; i < CELLS; i += 16) cells[i] += sweep, sum += cells[i];
    printf("swept\n");
    free(cells);
    return sum == 1;
}
