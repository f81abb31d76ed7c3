/* An MPI program: each rank works on memory of its own, rank r on 1/(r+1) of it, then all add up. */
#include <mpi.h>
#include <stdio.h>

#define WORDS 100000

static int data[WORDS];

__attribute__((noinline)) static void work(int words) {
    for (int i = 0; i < words; i++) data[i] += i;
}

int main(int argc, char **argv) {
    int rank, size, mine, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < 3; round++) work(WORDS / (1 + rank));
    mine = rank + 1;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d of %d: %d\n", rank, size, sum);
    MPI_Finalize();
    return 0;
}
