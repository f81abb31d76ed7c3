/* Values that may change behind the source's back are not followed. */
extern void outside(void);
extern void change(int *n);
double a[64];
int size;

void global_and_call(void) {
    size = 8;
    for (int i = 0; i < size; i++) a[i] = 0;
    outside();
    for (int i = 0; i < size; i++) a[i] = 0;
}

void by_address(void) {
    int n = 8, m = 8;
    change(&n);
    for (int i = 0; i < n; i++) a[i] = 0;
    for (int i = 0; i < m; i++) a[i] = 0;
}

void by_pointer(void) {
    int n = 8, *p = &n;
    *p = 9;
    for (int i = 0; i < n; i++) a[i] = 0;
}

void in_the_loop(void) {
    int n = 3;
    for (int i = 0; i < 8; i++) {
        a[n] = 0;
        n = i;
        a[n] = 1;
    }
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < size; j++) a[j] = 0;
}

void behind(int flag) {
    int n = 4, i;
    if (flag) n = 5;
    for (i = 0; i < n; i++) a[i] = 0;
    for (int j = 0; j < i; j++) a[j] = 0;
    n = 6;
    while (flag) {
        for (int j = 0; j < n; j++) a[j] = 0;
        n++;
    }
}

static void next(void) { size++; }

void through_a_call(void) {
    size = 0;
    for (int i = 0; i < 8; i++) {
        a[size] = 0;
        next();
    }
}

void narrow(int n) {
    for (int i = 0; i < 300; i++) {
        unsigned char c = i;
        a[c] = 0;
    }
    for (int i = 0; i < 8; i++) {
        unsigned u = i - 3;
        a[u] = 0;
    }
    for (unsigned long i = 0; i < 8; i++) a[(i - 3) / 2] = 0;
    for (unsigned long i = 0; i < 8; i++)
        if (i - 3 < 2) a[i] = 0;
    for (int i = 0; i < 20000000; i++) a[(int)(float)i] = 0;
    for (int i = 0; i < 100000; i++)
        for (int j = 0; j < 100000; j++) a[i * 100000 + j] = 0;
}

struct two { double *first, *second; } pair;

void swapped(void) {
    for (int i = 0; i < 8; i++) pair.first[i] = pair.second[i];
    double *keep = pair.first;
    pair.first = pair.second;
    pair.second = keep;
    for (int i = 0; i < 8; i++) pair.first[i] = pair.second[i];
}

extern void *malloc(unsigned long);

void made(int n) {
    double *x = malloc(n * sizeof *x), *y;
    y = malloc(n * sizeof *y);
    for (int i = 0; i < 8; i++) x[i] = y[i];
    y = x + 2;
    for (int i = 0; i < 8; i++) x[i] = y[i];
}
