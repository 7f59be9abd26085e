#include "loop/randomness.h"
#include "loop/failure.h"

#include <fcntl.h>
#include <unistd.h>

static uint64_t state;

/* Seed the player's generator and the kernel's: its draws, as for when BBR probes, then depend on nothing earlier
 * (kernel/same-randomness.patch; a kernel without it mixes the seed with the rest). */
void seed_randomness(uint64_t seed) {
    static int kernel = -1;
    if (kernel < 0) kernel = open("/dev/urandom", O_WRONLY | O_CLOEXEC);
    if (write(kernel, &seed, sizeof seed) != sizeof seed) die("/dev/urandom");
    state = seed;
}

/* splitmix64 (Steele, Lea and Flood, 2014). */
uint64_t next_random(void) {
    uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}
