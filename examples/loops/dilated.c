/* A filter of nine taps, eight samples apart, over several signals. */
#ifndef LENGTH
#define LENGTH 600
#endif
#ifndef CHANNELS
#define CHANNELS 16
#endif

#define TAPS 9
#define APART 8

static float signal[CHANNELS][LENGTH + (TAPS - 1) * APART], tap[CHANNELS][TAPS], out[CHANNELS][LENGTH];

void kernel(void) {
#pragma omp parallel for collapse(2) schedule(static, 64)
    for (int c = 0; c < CHANNELS; c++)
        for (int t = 0; t < LENGTH; t++) {
            float sum = 0;
            for (int k = 0; k < TAPS; k++) sum += tap[c][k] * signal[c][t + APART * k];
            out[c][t] = sum;
        }
}
