/* Prints the random bytes that the kernel, or an emulator, gave it at its start. */
#include <stdio.h>
#include <sys/auxv.h>

int main(void) {
    const unsigned char *bytes = (const unsigned char *)getauxval(AT_RANDOM);
    for (int i = 0; i < 16; i++) printf("%02x", bytes[i]);
    printf("\n");
    return 0;
}
