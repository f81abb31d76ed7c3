/* What a static function's callers pass is known where all of them agree; directives from macros. */
#define N 12
#define PARALLEL_FOR _Pragma("omp parallel for schedule(static, 2)")
static double a[N][N];

static void fill(int n, int m, int level) {
    PARALLEL_FOR
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) a[i][j] = level;
    for (int k = 0; k < level; k++) a[k][0] = 0;
}

static void taken(int n) {
    for (int i = 0; i < n; i++) a[i][1] = 0;
}

void global(int n) {
    for (int i = 0; i < n; i++) a[i][2] = 0;
}

int main(void) {
    int n = N, m = n / 2;
    void (*pointer)(int) = taken;
    fill(n, m, 1);
    fill(N, 6, 2);
    taken(n);
    global(n);
    pointer(3);
    return 0;
}
