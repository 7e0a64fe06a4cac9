"""`python -m lean_bridge`."""

import sys

if __name__ == "__main__":
    # Imported here, so that worker processes, which load this module anew, do not load the whole command.
    from lean_bridge.command_line import main

    sys.exit(main())
