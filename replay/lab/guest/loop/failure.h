/* What goes wrong: `die` ends the player, `failure` ends the current measurement alone. */
#pragma once

extern const char *failure; /* why the current measurement fails; NULL while nothing is wrong */

_Noreturn void die(const char *what);
