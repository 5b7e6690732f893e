"""`python launch.py`: starts the app and opens the browser."""

if __name__ == "__main__":
    from explorer.command_line import main

    main(["app"])
