/* The probe: small datagrams, sent as speech or a game sends them, whose delay tells what a page does to others. */
#pragma once

#include "loop/clock.h"

#include <stdbool.h>

extern bool probing;

void open_probe_sender(void);
void open_probe_receiver(void);
void reset_probe(void);
void begin_probe(nanoseconds time);
void end_probe(nanoseconds time);
nanoseconds next_probe(void);
void send_probe(nanoseconds time);
void print_probe(void);
