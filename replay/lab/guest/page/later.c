#include "page/later.h"
#include "loop/memory.h"

static struct task {
    nanoseconds due;
    later_function *function;
    struct connection *connection;
    int object;
} *tasks; /* the first due last; of several at the same time, the one that came first */
static int count, room;

void do_later(nanoseconds due, later_function *function, struct connection *connection, int object) {
    tasks = with_room(tasks, count, &room, sizeof *tasks);
    int place = count++;
    for (; place > 0 && tasks[place - 1].due <= due; place--) tasks[place] = tasks[place - 1];
    tasks[place] = (struct task){due, function, connection, object};
}

nanoseconds next_due(void) { return count ? tasks[count - 1].due : INT64_MAX; }

void do_due(nanoseconds time) {
    while (next_due() <= time) {
        struct task task = tasks[--count];
        task.function(task.connection, task.object);
    }
}

void forget_later(void) { count = 0; }
