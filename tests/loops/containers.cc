// What C++ adds to loops: containers, references, ranges, members.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace solver {

class grid {
    double cell[8][16];
    std::vector<double> flat;

public:
    void sweep();
};

std::array<std::array<float, 4>, 6> table;

void scale(std::vector<double> &v, std::size_t n) {
#pragma omp parallel for schedule(dynamic, 4)
    for (std::size_t i = 0; i < n; i++) v[i] = 2 * std::sqrt(v.at(i));
}

static void add(std::vector<double> &to, const std::vector<double> &from, int at) { to[at] += from[at + 1]; }

void own(int n) {
    std::vector<double> a(n * n), b(n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < std::min(i, 7); j++) {
            double &x = a[i * n + j];
            x += b.data()[j];
        }
    for (std::size_t i = 0; i + 1 < b.size(); i++) add(b, a, static_cast<int>(i));
    for (double &x : b) x = 0;
    for (auto row : table) b[0] += row[1];
    for (const auto &row : table)
        for (float x : row) b[1] += x;
}

void nested(std::vector<std::vector<double>> &rows, std::vector<double> &v) {
    for (int i = 0; i < 9; i++) rows[i][0] = 0;
    for (double x : v) rows[0][0] += x;
}

void grid::sweep() {
    for (int i = 1; i < 8; i++)
        for (int j = 0; j < 16; j++) cell[i][j] = cell[i - 1][j] + this->flat[i];
}

void initial(double *out) {
    static const std::array<double, 4> fixed = {1, 2, 3, 4}; // no writes
    for (int i = 0; i < 8; i++) {
        std::array<double, 4> weight = {1, out[i]}, zero{}, same = weight;
        std::array<std::array<float, 2>, 2> pair = {{{1, 2}, {3}}};
        double row[2][3] = {{1, 2}, 3, 4};
        out[i] = weight[i & 3] + zero[1] + same[2] + pair[1][1] + row[1][2] + fixed[3];
    }
}

} // namespace solver
