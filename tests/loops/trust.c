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
