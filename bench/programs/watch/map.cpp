/* map.cpp - counts words in an unordered_map. */
#include <cstdio>
#include <string>
#include <unordered_map>

int main() {
    std::unordered_map<std::string, int> counts;
    unsigned seed = 1;
    for (int i = 0; i < 300000; i++) counts["word " + std::to_string((seed = seed * 1103515245u + 12345u) >> 12)]++;
    std::printf("%zu\n", counts.size());
}
