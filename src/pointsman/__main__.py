"""`python -m pointsman`, where the script is not on the path."""

from .gateway.cli import main

if __name__ == "__main__":
    main()
