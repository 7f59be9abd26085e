#include "loop/failure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *failure;

_Noreturn void die(const char *what) {
    fprintf(stderr, "player: %s: %s\n", what, strerror(errno));
    exit(1);
}
