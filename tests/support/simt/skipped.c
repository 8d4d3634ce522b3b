/* In the place of every test that runs in the emulator, where it is not built. */
#include <stdio.h>

int main(void)
{
    puts("skipped: the emulator needs g++ and an x86-64 processor, and no sanitizer beside it");
    return 77;
}
