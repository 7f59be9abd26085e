/* The guest's first process: mounts, modules where the kernel has any, one driver under a watchdog of virtual time,
 * power off. In C, since a shell and a program for each step were a third of the boot.
 *
 * WORK, GUEST, VIRTUAL_SECONDS and MODULES come from the kernel's command line.
 */
#pragma once

_Noreturn void first_process(void);
