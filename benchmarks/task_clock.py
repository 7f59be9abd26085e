"""The CPU time of all processes that this one starts, as the kernel counts it while they run.

`getrusage` and `wait` know only of processes that their parents waited for. When a PID namespace ends, the
kernel ends all that is in it and nobody waits for those: of a browser in a box they miss the network service
and its network log.
"""

import ctypes
import os
import platform
import struct
import time

SYSCALLS = {"x86_64": 298, "aarch64": 241}
"""Number of perf_event_open by machine; the C library has no function for it (perf_event_open(2))."""

ATTRIBUTES_BYTES = 112
SOFTWARE, TASK_CLOCK, INHERIT = 1, 1, 1 << 1
"""PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, and the flag by which all descendants are counted."""


class TaskClock:
    """Counts from its making, for this thread and for every process that it starts from then on,
    with all of theirs.

    Raises OSError, with what to do, where the kernel refuses it.
    """

    def __init__(self) -> None:
        number = SYSCALLS.get(platform.machine())
        if number is None:
            raise OSError(
                f"CPU time cannot be counted on {platform.machine()}: it is known for {', '.join(SYSCALLS)}"
            )
        attributes = struct.pack("=IIQQQQQ", SOFTWARE, ATTRIBUTES_BYTES, TASK_CLOCK, 0, 0, 0, INHERIT)
        given = ctypes.create_string_buffer(attributes, ATTRIBUTES_BYTES)
        library = ctypes.CDLL(None, use_errno=True)
        self._counter = library.syscall(number, given, 0, -1, -1, 0)  # this thread, on any processor
        if self._counter < 0:
            raise OSError(
                ctypes.get_errno(), "CPU time cannot be counted: sysctl kernel.perf_event_paranoid=2"
            )
        self._began_s = time.thread_time()

    def __del__(self) -> None:
        """Close the counter."""
        if getattr(self, "_counter", -1) >= 0:
            os.close(self._counter)

    def of_descendants_s(self) -> float:
        """Return the user and system time of all processes started since, in seconds, whoever waited for
        them."""
        all_s = int.from_bytes(os.read(self._counter, 8), "little") / 1e9
        return all_s - (time.thread_time() - self._began_s)
