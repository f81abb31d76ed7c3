// What C++ adds to loops, in a form that can be run: property_loops_source compares. Only the elements of arrays are
// counted, not a vector's own pointers. elements_of_NAME and bytes_of_NAME are for those that are no variable of C.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

std::array<std::array<float, 4>, 6> table;
std::array<double, 24> row;
double plane[12][16], line[40];
std::vector<double> heap(50);
static double scaled[40];

class grid {
public:
    double cell[8][16];
    short mark[40];
    void sweep();
};
static grid field;

static void add(std::array<double, 24> &to, const std::array<double, 24> &from, int at) { to[at] += from[at + 1]; }

template <typename T> static T least(const T &a, const T &b) { return b < a ? b : a; }

void grid::sweep() {
    for (int i = 1; i < 8; i++)
        for (int j = 0; j < 16; j++) cell[i][j] = cell[i - 1][j] + this->mark[i + j];
}

namespace inner {
double weight[5];
static void scale(double (&to)[40]) {
    for (auto &x : to) x *= 2;
    for (std::size_t i = 0; i < 30; i++) to[i] = 2 * std::sqrt(to[29 - i]);
}
}

// Methods, operators, references that they return, and objects that are members or elements.
struct tile {
    double v[4][4];
    static int turned(int i) { return 3 - i; }
    double &operator()(int i, int j) { return v[i][j]; }
    double get(int i, int j) const { return v[turned(i)][j]; }
    tile &add(double x) {
        v[0][0] += x;
        return *this;
    }
    void transpose(const tile &from) {
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < i; j++) (*this)(i, j) = from.get(j, i);
    }
};
struct tiles {
    tile left, right[6];
    double &at(int k, int i) {
        if (i < 2) return left(k % 4, i);
        return right[k](i, i);
    }
    void cross() {
        for (int k = 0; k < 6; k++) right[k].transpose(left);
    }
};
static tiles floor_of;
static double &pick(int i) { return line[3 * i]; }

extern "C" void kernel() {
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < std::min(i, 7); j++) {
            double &x = plane[i][j];
            x += line[j];
        }
    for (std::size_t i = 0; i + 1 < row.size(); i++) add(row, row, static_cast<int>(i));
    for (double &x : row) x = 0;
    for (const auto &each : table)
        for (float x : each) line[1] += x;
    for (auto &each : table) each[1] = each.at(3);
    for (int i = 0; i < 5; i++) inner::weight[i] = line[2 * i] + least(i, 3);
    for (int i = 0; i < 25; i++) heap[i] += heap.at(2 * i) * heap.data()[i + 3];
    for (auto i = std::size_t{7}; i < 50; i += 3) line[0] += heap[i];
    inner::scale(scaled);
    field.sweep();
    for (int t = 0; t < 3; t++) floor_of.cross();
    for (int k = 0; k < 6; k++)
        for (int i = 0; i < 4; i++) floor_of.at(k, i) += floor_of.right[5 - k].get(i, k % 4);
    for (int i = 0; i < 5; i++) pick(i) = floor_of.left.add(1).add(2).get(0, 0);
}

extern "C" void *elements_of_heap() { return heap.data(); }
extern "C" std::size_t bytes_of_heap() { return heap.size() * sizeof(double); }
extern "C" void *elements_of_weight() { return inner::weight; }
extern "C" void *elements_of_grid() { return &field; }
extern "C" void *elements_of_floor_of() { return &floor_of; }
extern "C" void *elements_of_to() { return scaled; }
