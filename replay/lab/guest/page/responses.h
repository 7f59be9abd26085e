/* What is known of each response of a load. */
#pragma once

#include "page/recipe.h"

struct object_state {
    int next_waiting;
    bool retransmitted, own_retransmitted;
    uint32_t retransmitted_before;
    nanoseconds wanted, sent, last_byte;
    nanoseconds first_byte, last_packet; /* from the packet log, as are the flights */
    int flights;
};

void print_responses(const struct page *page, const struct object_state *objects, nanoseconds began);
