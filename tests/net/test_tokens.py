"""Tokens and their hashes: made, kept in files, compared; and what a file must not hold."""

import hashlib
import os
import stat
from pathlib import Path

import pytest

from lastcard.protocol import BOT_LINES, BotHello, encode
from lastcard.referee.net.tokens import (
    HASH,
    LARGEST_FILE,
    TOKEN,
    TokenError,
    hash_of,
    matches,
    new_token,
    read_hash,
    read_token,
    write_token,
)

A_TOKEN = "abcdefghijklmnopqrst_-"
A_HASH = "sha256:" + hashlib.sha256(A_TOKEN.encode()).hexdigest()


def test_tokens_are_all_different_and_need_no_quoting() -> None:
    made = {new_token() for _ in range(1000)}
    assert len(made) == 1000
    assert all(TOKEN.fullmatch(token) and len(token) == 22 for token in made)


def test_a_token_fits_into_a_hello() -> None:
    for token in (new_token(), "x" * 64):
        assert BOT_LINES.decode(encode(BotHello(1, token=token)).strip()) == BotHello(1, token=token)


def test_what_is_kept_of_a_token_is_its_sha256() -> None:
    assert hash_of(A_TOKEN) == A_HASH
    assert HASH.fullmatch(A_HASH)


@pytest.mark.parametrize("other", ["", A_TOKEN[:-1], A_TOKEN + "x", A_TOKEN.upper(), A_HASH, "é" * 22])
def test_no_other_token_matches(other: str) -> None:
    assert matches(A_TOKEN, A_HASH)
    assert not matches(other, A_HASH)


def test_a_new_file_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "token"
    mask = os.umask(0)
    try:
        kept = write_token(path)
    finally:
        os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text() == read_token(path) + "\n"
    assert kept == hash_of(read_token(path)) == read_hash(path)


@pytest.mark.parametrize("there", ["file", "folder", "link", "dangling"])
def test_nothing_is_overwritten(tmp_path: Path, there: str) -> None:
    path, target = tmp_path / "token", tmp_path / "target"
    target.write_text("precious")
    match there:
        case "file":
            path.write_text("precious")
        case "folder":
            path.mkdir()
        case "link":
            path.symlink_to(target)
        case _:
            path.symlink_to(tmp_path / "nowhere")
    with pytest.raises(TokenError, match="exists already, expected the name of a new file"):
        write_token(path)
    assert target.read_text() == "precious"
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("name", ["no/such/folder", "\0", "x" * 300])
def test_a_file_that_cannot_be_made(tmp_path: Path, name: str) -> None:
    with pytest.raises(TokenError, match="expected the name of a new file"):
        write_token(tmp_path / name)


@pytest.mark.parametrize("text", [A_TOKEN, A_TOKEN + "\n", f"  {A_TOKEN}\r\n", f"\n{A_TOKEN}\n\n"])
def test_a_token_in_a_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "token"
    path.write_text(text, newline="")
    assert read_token(path) == A_TOKEN
    assert read_hash(path) == A_HASH


def test_a_hash_in_a_file_is_for_the_referee_alone(tmp_path: Path) -> None:
    path = tmp_path / "hash"
    path.write_text(A_HASH + "\n")
    assert read_hash(path) == A_HASH
    with pytest.raises(TokenError, match="holds the hash of a token, expected the token itself"):
        read_token(path)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"short",
        b"x" * 65,
        A_TOKEN.encode() + b"\n" + A_TOKEN.encode(),
        A_TOKEN.encode() + b" # mine",
        b"\xef\xbb\xbf" + A_TOKEN.encode(),
        A_TOKEN.encode("utf-16"),
        A_TOKEN[:-1].encode() + b"\x00",
        A_HASH[:-1].encode(),
        A_HASH.upper().encode(),
        b"x" * (LARGEST_FILE + 1),
    ],
    ids=["empty", "blank", "short", "long", "two", "comment", "bom", "utf-16", "zero", "short hash", "upper", "huge"],
)
def test_a_file_without_a_token(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "token"
    path.write_bytes(data)
    for read in (read_token, read_hash):
        with pytest.raises(TokenError) as caught:
            read(path)
        assert str(caught.value).startswith(f"{path}: expected one line")
        assert A_TOKEN not in str(caught.value)


@pytest.mark.parametrize("name", ["gone", ".", "\0"])
def test_a_file_that_cannot_be_read(tmp_path: Path, name: str) -> None:
    for read in (read_token, read_hash):
        with pytest.raises(TokenError, match="expected a token file"):
            read(tmp_path / name)
