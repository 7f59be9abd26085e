"""The loads of the edition of 2026, which rule 6 decided, estimated in the two units of rule 7."""
