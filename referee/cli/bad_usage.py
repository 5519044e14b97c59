"""The one exception for what a user got wrong: one line, exit code 2, before anything starts."""

import click


class BadUsage(click.ClickException):
    """Printed as `lastcard: ...`; ends with exit code 2."""

    exit_code = 2

    def show(self, file: object = None) -> None:
        """One line on standard error."""
        click.echo(f"lastcard: {self.message}", err=True)
