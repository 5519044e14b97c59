"""`lastcard serve`: a tournament that bots may play in over TCP."""

import ssl
import sys
from pathlib import Path
from socket import socket

import click

from lastcard.referee.cli.bad_usage import BadUsage, complain
from lastcard.referee.cli.terminal import say
from lastcard.referee.cli.values import mode_open_to_others, text_of, whole_number
from lastcard.referee.hardening import harden
from lastcard.referee.net.door import SPARE, descriptors
from lastcard.referee.net.seating import NetSeating
from lastcard.referee.net.sockets import ListenError, is_loopback, listen, shown
from lastcard.referee.net.tls import TlsError, server_context
from lastcard.referee.net.tokens import holds_token, read_hash
from lastcard.referee.tournament import Config, Said, load_config, run
from lastcard.referee.tournament.commands import default_folder
from lastcard.referee.tournament.folder import Folder, base_folder

PATH = click.Path(path_type=Path)
LOOPBACK = "127.0.0.1"
AT_WORK = 40
"""Descriptors for the referee itself, and for a few strangers at the door."""


@click.command(
    epilog="""\b
Examples:
  lastcard serve cup.toml --port 4000
  lastcard serve cup.toml --host 0.0.0.0 --port 4000 --cert cert.pem --key key.pem
"""
)
@click.argument("file", type=PATH, metavar="FILE.toml")
@click.option("--host", default=LOOPBACK, metavar="HOST", help=f"The address to listen on. [default: {LOOPBACK}]")
@click.option(
    "--port", type=whole_number(0, 65_535), default=0, metavar="N", help="The port; 0 is one that is free. [default: 0]"
)
@click.option("--cert", type=PATH, metavar="FILE", help="The certificate (PEM); with it bots need TLS.")
@click.option("--key", type=PATH, metavar="FILE", help="The certificate's private key (PEM).")
@click.option("--insecure", is_flag=True, help="Listen beyond this machine without TLS: tokens can be overheard.")
@click.option(
    "--wait", type=whole_number(0, 86_400), default=60, metavar="S",
    help="Seconds to wait for all bots before the first match. [default: 60]",
)  # fmt: skip
@click.option("--dir", "folder", type=PATH, metavar="DIR", help="Its folder. [default: named after the tournament]")
@click.option(
    "--jobs", type=whole_number(1), metavar="N", help="So many matches at a time. [default: the number of cores]"
)
@click.option("--plain", is_flag=True, help="Plain lines in place of a progress bar.")
def serve(
    file: Path,
    host: str,
    port: int,
    cert: Path | None,
    key: Path | None,
    insecure: bool,
    wait: int,
    folder: Path | None,
    jobs: int | None,
    plain: bool,
) -> None:
    """Listen for the bots that FILE.toml names with `tcp = true`, and play its tournament.

    Bots of this machine play at the same tables. Exit code 0 when it is finished, 3 when it was stopped: the same
    command goes on.
    """
    harden()
    text_of(file, "a tournament file")
    config_file = load_config(file)
    folder = folder or default_folder(config_file)
    config = config_file.config
    expected = tokens_of(file, config, base_folder(Folder(folder), config_file))
    check_descriptors(len(expected))
    context = tls_of(cert, key)
    if context is None and not insecure and not is_loopback(host):
        raise BadUsage(
            f"--host {host}: without TLS everybody on the way can read the tokens; expected --cert and --key,"
            " or --insecure"
        )
    try:
        listeners = listen(host, port)
    except ListenError as error:
        raise BadUsage(f"--host {host} --port {port}: {error}") from error
    with_tls = "with TLS" if context else "without TLS"
    for listener in listeners:
        say(f"listening on {shown(listener.getsockname())} {with_tls} for {', '.join(expected)}")
    seating = NetSeating(expected, listeners, start_ms=config.limits.start_ms, patience=float(wait), context=context)
    said = Said(("serve",), options_of(host, listeners[0], wait, cert, key, insecure=insecure))
    sys.exit(run(file, folder, jobs, plain, player=seating, said=said))


def options_of(
    host: str, listener: socket, wait: int, cert: Path | None, key: Path | None, *, insecure: bool
) -> tuple[str, ...]:
    """The options that listen there again: on the port that the bots know by now."""
    words = ["--host", host, "--port", str(listener.getsockname()[1]), "--wait", str(wait)]
    if cert is not None and key is not None:
        words += ["--cert", str(cert), "--key", str(key)]
    return (*words, "--insecure") if insecure else tuple(words)


def tokens_of(file: Path, config: Config, base: Path) -> dict[str, str]:
    """The hash of each remote bot's token, by name. Token files are meant from the folder `base`."""
    expected: dict[str, str] = {}
    for bot in config.bots:
        if bot.token_file is not None:
            path = base / bot.token_file
            expected[bot.name] = read_hash(path)
            warn_of_readers(path)
    owners: dict[str, str] = {}
    for name, kept in expected.items():
        if (other := owners.setdefault(kept, name)) != name:
            raise BadUsage(f"{file}: [[bot]] {name}: has the same token as {other}, expected one of its own")
    if not expected:
        raise BadUsage(
            f"{file}: no bot of it has tcp = true, expected one at least; without remote bots it is"
            " `lastcard tournament run`"
        )
    return expected


def warn_of_readers(path: Path) -> None:
    """Say so if others of this machine may read a token; a hash tells nobody anything."""
    mode = mode_open_to_others(path)
    if mode and holds_token(path):
        complain(
            f"{path}: others may read this token (mode {mode}); chmod 600 makes it yours, and its"
            " hash (lastcard token --hash FILE) would do here"
        )


def check_descriptors(bots: int) -> None:
    """Raise BadUsage where so few files may be open that the door would let nobody in."""
    least = SPARE + AT_WORK + bots
    if descriptors() < least:
        raise BadUsage(f"only {descriptors()} open files are allowed here (ulimit -n), expected {least} at least")


def tls_of(cert: Path | None, key: Path | None) -> ssl.SSLContext | None:
    """What `--cert` and `--key` ask for."""
    if cert is None and key is None:
        return None
    if cert is None or key is None:
        raise BadUsage("--cert and --key belong together: expected both or neither")
    try:
        return server_context(cert, key)
    except TlsError as error:
        raise BadUsage(f"--cert {cert} --key {key}: {error}") from error
