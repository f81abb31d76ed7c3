// Exceptions through several frames, containers, virtual calls.
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct Shape {
    virtual ~Shape() = default;
    virtual double area() const = 0;
};
struct Square : Shape {
    explicit Square(double s) : side(s) {}
    double area() const override {
        if (side < 0) throw std::domain_error("side below zero");
        return side * side;
    }
    double side;
};

static double total(const std::vector<std::unique_ptr<Shape>> &shapes) {
    double sum = 0;
    for (auto &shape : shapes) sum += shape->area();
    return sum;
}

int main() {
    std::map<std::string, int> caught;
    for (int round = 0; round < 100; round++) {
        std::vector<std::unique_ptr<Shape>> shapes;
        for (int i = 0; i < 20; i++) shapes.push_back(std::make_unique<Square>(round % 3 == 0 && i == 13 ? -1 : i));
        try {
            total(shapes);
            caught["none"]++;
        } catch (const std::exception &error) {
            caught[error.what()]++;
        }
    }
    for (auto &[what, count] : caught) std::cout << what << ' ' << count << '\n';
    return 3;
}
