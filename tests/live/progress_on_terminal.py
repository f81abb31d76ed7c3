#!/usr/bin/python3
"""Commands on a pseudo terminal: what they say while they work, and that they say it only there.

Programs run, and traces go on, until what is looked for was said: nothing here
depends on how fast the machine is, and what never comes ends in the test's time limit.
"""
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
import time

TOOL = os.environ["REUSESCOPE"]
CLEAR = b"\r\x1b[K"


def on_terminal(words, seen, columns=200, feed=None, ends=(0,)):
    """Output of a command whose output and errors are a terminal; `seen(text)` is asked after every piece of it, and interrupts the command if true."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    child = subprocess.Popen(words, stdin=subprocess.PIPE if feed else subprocess.DEVNULL, stdout=follower, stderr=follower,
                             env=dict(os.environ, PAGER="cat", TERM="xterm"))
    os.close(follower)
    feeder = threading.Thread(target=feed, args=(child.stdin,)) if feed else None
    if feeder:
        feeder.start()
    text = b""
    while True:
        try:
            piece = os.read(leader, 65536)
        except OSError:  # Linux: nobody has the other end any more
            break
        if not piece:
            break
        text += piece
        if seen(text.decode(errors="replace")):
            child.send_signal(signal.SIGINT)
    os.close(leader)
    if feeder:
        feeder.join()
    assert child.wait() in ends, f"{words}: {text.decode(errors='replace')}"
    return text


def lines_of(text):
    """The lines that were drawn over each other."""
    return [line.split(b"\x1b[K")[0].decode() for line in text.split(b"\r") if b"\x1b[K" in line and not line.startswith(b"\x1b[K")]


def watch(name, options, pattern, arguments=(), columns=200):
    """A program that ends when `pattern` was shown; returns all that was."""
    stop = f"stop-{name}"

    def seen(text):
        if re.search(pattern, text) and not os.path.exists(stop):
            open(stop, "w").close()

    text = on_terminal([TOOL, "run", *options, "-o", f"{name}.json", "--", "./until", stop, *arguments], seen, columns)
    assert b"swept" in text, text
    return text


def check_run():
    text = watch("exact", [], r"run: [\d.]+ M references, [\d.]+ M/s, slowdown perhaps \d+ to \d+x")
    last = text.rindex(b"M/s, slowdown")
    assert CLEAR in text[last:], "the line stays on the screen"
    assert "samp" not in lines_of(text)[-1] and "error" not in lines_of(text)[-1], "an exact result has no error"
    watch("sampled", ["--engine", "shards:0.5"],
          r"M references, [\d.]+ M/s, \d+ lines sampled, error [\d.]+(e-\d+)? % so far, slowdown perhaps")
    watch("modelled", ["--engine", "hotl"], r"M references, [\d.]+ M/s, \d+ true distances sampled, slowdown")
    # without us first, for twenty sweeps; then until it is stopped
    watch("native", ["--native"], r"M/s, slowdown at least [\d.]+x", arguments=["ran-once"])
    narrow = watch("narrow", ["--engine", "shards:0.5"], r"run: [\d.]+ M references", columns=40)
    widest = max(len(line) for line in lines_of(narrow))
    assert 30 < widest < 40, f"{widest} columns of 40"


def check_silence():
    """With -q, and where there is no terminal: nothing, for as long as would show several lines otherwise."""
    def feed(pipe):
        end = time.monotonic() + 1
        while time.monotonic() < end:
            pipe.write(bytes(1 << 20))
        pipe.close()

    words = [TOOL, "analyze", "--from", "raw64", "-o", "quiet.json", "-"]
    text = on_terminal([*words, "-q"], lambda text: None, feed=feed)
    assert b"\x1b[K" not in text and b"M/s" not in text, text
    with open("stderr", "wb") as errors:
        piped = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=errors)
        feed(piped.stdin)
        assert piped.wait() == 0
    with open("stderr", "rb") as errors:
        text = errors.read()
    assert text and b"\x1b[K" not in text and b"M/s" not in text, text


def check_analyze(options, pattern):
    """A trace that goes on until the pattern was shown."""
    found = threading.Event()
    words = [TOOL, "analyze", "--from", "raw64", "-o", "fed.json", *options, "-"]

    def seen(text):
        if re.search(pattern, text):
            found.set()

    def feed(pipe):
        block = b"".join(struct.pack("<Q", 64 * (i * 7919 % 65536)) for i in range(65536))
        while not found.is_set():
            pipe.write(block)
        pipe.close()

    on_terminal(words, seen, feed=feed)


def check_loops():
    """Work that takes long, until it said what it does; and what it leaves on the screen when time is up."""
    with open("long.loop", "w", encoding="ascii") as file:
        file.write("loops 1 array a 8 [16777216] nest long { for i = 0 to 1048575 { for j = 0 to 1048575 {"
                   " when (3*i + 5*j) % 7 == 0 and (i + j) % 11 != 3 { write a[3*i + 5*j] } } } }")
    with open("short.loop", "w", encoding="ascii") as file:
        file.write("loops 1 array a 8 [4096][4096] nest short { parallel { for i = 0 to 4095 share static { for j = 0 to 4095 { read a[j][i] write a[i][j] } } } }")
    changes = ["--what-if", "chunk=1,2,3,4,5,6,7,8"]
    for file, options, pattern in (("long.loop", [], r"loops: long, counting lines, \d+ s"),
                                   ("short.loop", ["-t", "900-960"], r"loops: short, \d+ threads, \d+ s"),
                                   ("short.loop", ["-t", "900-960", *changes], r"loops: short, chunk=\d+, (counting lines|\d+ threads), \d+ s")):
        text = on_terminal([TOOL, "loops", file, *options, "-o", "out.json"], lambda text: re.search(pattern, text), ends=(-signal.SIGINT, 128 + signal.SIGINT))
        assert re.search(pattern, text.decode()), text
        quiet = on_terminal([TOOL, "loops", file, *options, "-q", "--max-seconds", "1", "-o", "out.json"], lambda text: False, ends=(0, 1))
        assert b"\x1b[K" not in quiet and b"counting" not in quiet, quiet
    text = on_terminal([TOOL, "loops", "short.loop", "-t", "4000-4063", *changes, "--max-seconds", "0.5", "-o", "out.json"], lambda text: False,
                       ends=(0, 1))
    lines = list(re.finditer(rb"loops: short, \d+ threads, \d+ s", text))
    assert not lines or CLEAR in text[lines[-1].end():], "the line stays on the screen"
    assert b"out of time (--max-seconds 0.5)" in text, text


def main():
    check_loops()
    check_run()
    check_silence()
    check_analyze([], r"analyze: [\d.]+ M references, [\d.]+ M/s")
    check_analyze(["--engine", "shards-max:4K"], r"analyze: [\d.]+ M references, [\d.]+ M/s, \d+ lines sampled, error [\d.]+(e-\d+)? % so far")


if __name__ == "__main__":
    main()
