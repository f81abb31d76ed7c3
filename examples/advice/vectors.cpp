/*
 * vectors.cpp - the product of two matrices, each a vector of rows: as the textbook
 * writes it, and with its two inner loops exchanged. An example of docs/guide/advice.md.
 *
 *     vectors before|after [N]     1024 if not given
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

using matrix = std::vector<std::vector<double>>;

static void multiply(const matrix &a, const matrix &b, matrix &c) {
    size_t n = a.size();
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t k = 0; k < n; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
}

static void multiply_exchanged(const matrix &a, const matrix &b, matrix &c) {
    size_t n = a.size();
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            for (size_t j = 0; j < n; j++) c[i][j] += a[i][k] * b[k][j];
}

int main(int argc, char **argv) {
    size_t n = argc > 2 ? (size_t)std::atol(argv[2]) : 1024;
    if (argc < 2 || (std::strcmp(argv[1], "before") && std::strcmp(argv[1], "after")) || n < 2 || n > 1 << 13) {
        std::fprintf(stderr, "usage: vectors before|after [N]\n");
        return 2;
    }
    matrix a(n, std::vector<double>(n)), b = a, c = a;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) a[i][j] = double((i * n + j) % 13), b[i][j] = double((i * n + j) % 11);
    clock_t start = clock();
    (std::strcmp(argv[1], "after") ? multiply : multiply_exchanged)(a, b, c);
    std::fprintf(stderr, "%.3f s\n", double(clock() - start) / CLOCKS_PER_SEC);
    std::printf("the product has %.0f in its corner\n", c[n - 1][n - 1]);
}
