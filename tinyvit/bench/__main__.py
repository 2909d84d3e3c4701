"""Runs the command of this package."""

from tinyvit.bench import main, parser
from tinyvit.support.shell.command import run_command

run_command(parser(), main)
