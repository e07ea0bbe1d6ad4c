"""`python -m discreet` is the command `discreet`, for where the folder of commands is not on the path."""

from discreet.cli import main

if __name__ == "__main__":
    main()
