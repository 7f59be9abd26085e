"""The lab: a guest kernel in virtual time, its recipe, and what runs inside it (`guest/`)."""
