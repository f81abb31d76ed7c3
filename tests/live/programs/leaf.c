/* leaf.c - a function of one basic block, called 50 times: three reads, three writes and a return each. */
static int numbers[300];

__attribute__((noinline)) void leaf(volatile int *p);
void leaf(volatile int *p) {
    p[0]++;
    p[100]++;
    p[200]++;
}

int main(void) {
    for (int i = 0; i < 50; i++) leaf(numbers);
    return 0;
}
