/* Says when it has started, makes four million additions in memory, says when it is done. */
#include <stdio.h>

static void say(const char *name, const char *text) {
    char part[256];
    snprintf(part, sizeof part, "%s.part", name);
    FILE *file = fopen(part, "w");
    if (!file) return;
    fputs(text, file);
    fclose(file);
    rename(part, name);
}

int main(int argc, char **argv) {
    static volatile long cells[4096];
    char text[32];
    long sum = 0;
    if (argc < 3) return 2;
    say(argv[1], "");
    for (long i = 0; i < 4000000; i++) cells[i % 4096]++;
    for (long i = 0; i < 4096; i++) sum += cells[i];
    snprintf(text, sizeof text, "%ld\n", sum);
    say(argv[2], text);
    return 0;
}
