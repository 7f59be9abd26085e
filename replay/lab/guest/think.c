/* What servers have been asked and have not begun to answer: they think about it. */
#include "player.h"

#include <stdlib.h>

bool thinking;

static struct thought {
    nanoseconds due;
    struct connection *connection;
    int object;
} *thoughts;
static int count, room;

void think_about(struct connection *connection, int object, nanoseconds due) {
    if (count == room) {
        room = room ? 2 * room : 64;
        thoughts = realloc(thoughts, (size_t)room * sizeof *thoughts);
        if (!thoughts) die("memory");
    }
    thoughts[count++] = (struct thought){due, connection, object};
}

/* The first of those that are due first. */
static int first_due(void) {
    int first = 0;
    for (int i = 1; i < count; i++)
        if (thoughts[i].due < thoughts[first].due) first = i;
    return first;
}

nanoseconds next_thought(void) { return count ? thoughts[first_due()].due : INT64_MAX; }

void answer_due(nanoseconds time) {
    while (next_thought() <= time) {
        int first = first_due();
        struct thought ready = thoughts[first];
        for (int i = first + 1; i < count; i++) thoughts[i - 1] = thoughts[i];
        count--;
        answer(ready.connection, ready.object);
    }
}

void forget_thoughts(void) { count = 0; }
