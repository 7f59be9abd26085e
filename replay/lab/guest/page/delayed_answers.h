/* Requests whose servers wait before they answer. */
#pragma once

#include "transport/connection.h"

typedef void answer_function(struct connection *connection, int object);

void delay_answer(nanoseconds due, answer_function *answer, struct connection *connection, int object);
nanoseconds next_delayed_answer(void);
void give_answers_due(nanoseconds time);
void forget_delayed_answers(void);
