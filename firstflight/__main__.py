"""`python -m firstflight`: the command line without its script."""

from firstflight.main import main

if __name__ == "__main__":
    main(prog_name="firstflight")
