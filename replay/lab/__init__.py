"""The lab: a guest kernel in virtual time, its build, and the programs that run inside it (`guest/`)."""
