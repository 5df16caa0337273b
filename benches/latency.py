#!/usr/bin/env python3
"""What latency costs: real processes, each host in a network namespace of its own, every packet delayed on its way.

    cargo build --release
    benches/latency.py hosts      k in {1, 2, 4} hosts, round trips of 0, 20 and 100 ms: `node simulate`, about a minute
    benches/latency.py members    8 and 64 members, 0 and 20 ms: `node run`, from the first Join to everybody's Ready, a minute

Needs root on Linux and Python 3.10; where namespaces are not permitted it says so and ends with 0, having measured nothing.

Every namespace has one TUN device, and all packets between them pass this script, which holds each for half a round trip. So nothing of
the kernel's is needed that is not everywhere (`tc netem` is a module that many kernels lack), and TCP is the kernel's own, handshakes
and windows included. The round trip is measured before anything else. Namespaces are removed by name at the end, however it comes.
"""

import argparse
import collections
import fcntl
import json
import os
import pathlib
import re
import resource
import select
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000


def run(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more)


def switch(devices, delay):
    """Passes packets on, each `delay` seconds after it came. All wait equally long, so the first that came is the first to go."""
    waiting = collections.deque()
    while True:
        left = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        ready, _, _ = select.select(devices, [], [], left)
        now = time.monotonic()
        for device in ready:
            for _ in range(32):
                try:
                    packet = os.read(device, 65536)
                except BlockingIOError:
                    break
                # IPv4 to one of us: the last byte of the address says whom.
                if packet[0] >> 4 == 4 and 1 <= packet[19] <= len(devices):
                    waiting.append((now + delay, devices[packet[19] - 1], packet))
        now = time.monotonic()
        while waiting and waiting[0][0] <= now:
            _, device, packet = waiting.popleft()
            try:
                os.write(device, packet)
            except OSError:
                pass  # A full queue loses packets, as everywhere.


class Network:
    """Namespaces with addresses 10.77.0.1, 10.77.0.2, …, a round trip apart."""

    def __init__(self, hosts, round_trip):
        self.names = [f"undertone-{os.getpid()}-{host}" for host in range(hosts)]
        self.made, self.switch, self.devices = [], None, []
        self.round_trip = round_trip

    def __enter__(self):
        try:
            for host, name in enumerate(self.names):
                run("ip", "netns", "add", name)
                self.made.append(name)
                device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
                self.devices.append(device)
                tun = f"ut{os.getpid() % 100000}x{host}"
                fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", tun.encode(), IFF_TUN | IFF_NO_PI))
                run("ip", "link", "set", tun, "netns", name)
                inside = ("ip", "-n", name)
                run(*inside, "address", "add", f"10.77.0.{host + 1}/24", "dev", tun)
                run(*inside, "link", "set", tun, "up", "txqueuelen", "10000")
                run(*inside, "link", "set", "lo", "up")
            ends = signal.signal(signal.SIGTERM, signal.SIG_DFL)
            self.switch = os.fork()
            if self.switch == 0:
                try:
                    switch(self.devices, self.round_trip / 2)
                finally:
                    os._exit(1)
            signal.signal(signal.SIGTERM, ends)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.switch:
            os.kill(self.switch, signal.SIGTERM)
            os.waitpid(self.switch, 0)
        for device in self.devices:
            os.close(device)
        for name in self.made:
            subprocess.run(["ip", "netns", "delete", name], check=False)

    def address(self, host):
        return f"10.77.0.{host + 1}"

    def inside(self, host, *command):
        return ["ip", "netns", "exec", self.names[host], *map(str, command)]

    def measured(self):
        """The round trip between the first two, in seconds: a byte there and back over TCP, best of ten."""
        echo = (
            "import socket; s = socket.create_server(('10.77.0.2', 900)); c = s.accept()[0]\n"
            "for _ in range(10): c.sendall(c.recv(1))"
        )
        ask = (
            "import socket, time\n"
            "for _ in range(100):\n"
            "    try: c = socket.create_connection(('10.77.0.2', 900)); break\n"
            "    except OSError: time.sleep(0.05)\n"
            "best = 9\n"
            "for _ in range(10):\n"
            "    began = time.monotonic(); c.sendall(b'x'); c.recv(1); best = min(best, time.monotonic() - began)\n"
            "print(best)"
        )
        server = subprocess.Popen(self.inside(1, sys.executable, "-c", echo))
        asked = run(*self.inside(0, sys.executable, "-c", ask))
        server.wait(10)
        return float(asked.stdout)


class Process:
    """A process whose words on standard error are noted with the time at which they came."""

    started = []

    def __init__(self, command, folder):
        self.lines = []
        self.child = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        Process.started.append(self.child)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.child.stderr:
            self.lines.append((time.monotonic(), line.strip()))

    def end(self, limit):
        """When it ended; it must have succeeded."""
        try:
            code = self.child.wait(limit)
        except subprocess.TimeoutExpired:
            self.child.kill()
            code = self.child.wait()
        ended = time.monotonic()
        self.reader.join(5)
        if code != 0:
            sys.exit("a process failed:\n" + "\n".join(line for _, line in self.lines))
        return ended

    def when(self, said):
        """When it said this."""
        for at, line in self.lines:
            if re.search(said, line):
                return at
        sys.exit(f"nothing like {said!r} was said:\n" + "\n".join(line for _, line in self.lines))


def hosts(undertone):
    """The table of hosts and round trips."""
    peers, common = 32, ["peers.count=32", "topology.degree=4", "data.items=60", "seed=11"]
    schemes = {"tree": 'averaging={scheme = "tree"}', "chebyshev": 'averaging={scheme = "chebyshev", tolerance = 1e-6}'}
    print("| hosts | round trip | measured | scheme | rounds | seconds | seconds / (rounds × round trip / 2) |")
    print("| --- | --- | --- | --- | --- | --- | --- |", flush=True)
    for count in (1, 2, 4):
        for round_trip in (0.0, 0.02, 0.1):
            with Network(count, round_trip) as network, tempfile.TemporaryDirectory() as folder:
                measured = f"{network.measured() * 1e3:.1f} ms" if count > 1 else ""
                each = peers // count
                listed = "".join(
                    f'[[host]]\nname = "host-{host}"\naddress = "{network.address(host)}"\n'
                    f'base_port = 7000\npeers = "{host * each}..{(host + 1) * each}"\n'
                    for host in range(count)
                )
                pathlib.Path(folder, "hosts.toml").write_text(listed)
                for scheme, averaging in schemes.items():
                    out = pathlib.Path(folder, scheme)
                    command = [undertone, "node", "simulate", ROOT / "tests/power.toml", "--hosts", "hosts.toml"]
                    command += ["--out", out, *(f"--set={key}" for key in [*common, averaging])]
                    running = [
                        Process(network.inside(host, *command, "--host", host), folder) for host in range(count)
                    ]
                    ends = [process.end(300) for process in running]
                    seconds = ends[0] - running[0].when("all hosts are here")
                    summary = json.loads(pathlib.Path(out, "summary.json").read_text())
                    rounds = summary["communication"]["rounds"]
                    rounds = sum(rounds) if isinstance(rounds, list) else rounds
                    ratio = f"{seconds / (rounds * round_trip / 2):.2f}" if round_trip and count > 1 else ""
                    print(
                        f"| {count} | {round_trip * 1e3:.0f} ms | {measured} | {scheme} | {rounds} | {seconds:.2f} | {ratio} |",
                        flush=True,
                    )


PLAN = """
name = "group"
[data]
format = "matrix-csv"
ranges = [-1.0, 1.0]
row_clip = 1.0
[privacy]
epsilon = 1.5
delta = 1e-6
colluders = 1
adjacency = "user"
sensitivity = "unit-row"
[averaging]
scheme = "tree"
[topology]
generator = "random-regular"
degree = 5
seed = "beacon"
[algorithm]
kind = "krylov"
rank = 1
block = 2
iterations = 3
"""


def members(undertone):
    """From the first Join to everybody's Ready, each member a process in a namespace of its own. The clock begins when the first listens."""
    print("| members | round trip | measured | last listens | all have joined | all are agreed | all have begun | end | CPU of all |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    for count in (8, 64):
        for round_trip in (0.0, 0.02):
            with Network(count, round_trip) as network, tempfile.TemporaryDirectory() as folder:
                print(one_group(undertone, network, count, folder), flush=True)


def one_group(undertone, network, count, folder):
    tickets = ""
    for member in range(count):
        state, address = f"member-{member}", f"/ip4/{network.address(member)}/tcp/7700"
        run(undertone, "node", "init", "--state", state, "--name", state, cwd=folder)
        tickets += run(undertone, "node", "id", "--state", state, "--address", address, cwd=folder).stdout
        rows = [[((row * 7 + column * 5 + member * 3) % 11) / 11 for column in range(6)] for row in range(20)]
        text = "".join(",".join(map(str, row)) + "\n" for row in rows)
        pathlib.Path(folder, f"rows-{member}.csv").write_text(text)
    for name, text in (("tickets.txt", tickets), ("columns.txt", "1\n2\n3\n4\n5\n6\n"), ("plan.toml", PLAN)):
        pathlib.Path(folder, name).write_text(text)
    invite = ["node", "invite", "plan.toml", "--members", "tickets.txt", "--items", "columns.txt", "--grace", "60"]
    run(undertone, *invite, "--state", "member-0", "--out", "session.toml", cwd=folder)
    measured = network.measured()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    running = []
    for member in range(count):
        command = ["node", "run", "session.toml", "--state", f"member-{member}", "--data", f"rows-{member}.csv"]
        command += ["--listen", f"/ip4/{network.address(member)}/tcp/7700", "--out", f"result-{member}"]
        running.append(Process(network.inside(member, undertone, *command), folder))
    ends = [process.end(300) for process in running]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    bases = {pathlib.Path(folder, f"result-{member}/basis.npy").read_bytes() for member in range(count)}
    assert len(bases) == 1, "all members have one basis"
    listens = [process.when("listening on") for process in running]
    first, last = min(listens), max(listens)
    joined, agreed, begun = (
        f"{max(process.when(said) for process in running) - first:.2f} s"
        for said in ("all have joined", "agreed:", "release 1 of .*charged")
    )
    return (
        f"| {count} | {network.round_trip * 1e3:.0f} ms | {measured * 1e3:.1f} ms | {last - first:.2f} s | {joined} | {agreed} | {begun} "
        f"| {max(ends) - first:.2f} s | {spent:.1f} s |"
    )


def permitted():
    """Why nothing can be measured here, if so."""
    if os.geteuid() != 0:
        return "root is needed"
    if not pathlib.Path("/dev/net/tun").exists():
        return "there is no /dev/net/tun"
    try:
        with Network(2, 0.0):
            return None
    except (OSError, subprocess.CalledProcessError) as error:
        return f"namespaces are not permitted ({error})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=["hosts", "members"])
    parser.add_argument("--undertone", default=ROOT / "target/release/undertone", type=pathlib.Path)
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    why = permitted()
    if why:
        print(f"SKIPPED, nothing was measured: {why}", file=sys.stderr)
        return
    try:
        {"hosts": hosts, "members": members}[arguments.part](arguments.undertone.resolve())
    finally:
        for child in Process.started:
            if child.poll() is None:
                child.kill()


if __name__ == "__main__":
    main()
