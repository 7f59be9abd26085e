#include "page/delayed_answers.h"
#include "loop/memory.h"

#include <string.h>

static struct delayed {
    nanoseconds due;
    answer_function *answer;
    struct connection *connection;
    int object;
} *delayed;
static int count, room;

void delay_answer(nanoseconds due, answer_function *answer, struct connection *connection, int object) {
    delayed = with_room(delayed, count, &room, sizeof *delayed);
    delayed[count++] = (struct delayed){due, answer, connection, object};
}

/* The answer that is due first; of several at the same time, the one asked for first. */
static int first_due(void) {
    int first = 0;
    for (int i = 1; i < count; i++)
        if (delayed[i].due < delayed[first].due) first = i;
    return first;
}

nanoseconds next_delayed_answer(void) { return count ? delayed[first_due()].due : INT64_MAX; }

void give_answers_due(nanoseconds time) {
    while (next_delayed_answer() <= time) {
        int first = first_due();
        struct delayed due = delayed[first];
        memmove(delayed + first, delayed + first + 1, (size_t)(--count - first) * sizeof *delayed);
        due.answer(due.connection, due.object);
    }
}

void forget_delayed_answers(void) { count = 0; }
