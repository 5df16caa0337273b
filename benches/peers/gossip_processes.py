"""One process per peer over ZeroMQ: each sends its block to all neighbours, waits for theirs and takes the weighted mean, round by round.

This is how decentralizepy runs a graph: a DEALER socket per neighbour and one ROUTER per process, over TCP on loopback.
"""

import multiprocessing
import time

import networkx
import numpy as np
import zmq


def peer(number, neighbours, weights, first_port, rounds, shape, ready, done):
    context = zmq.Context()
    router = context.socket(zmq.ROUTER)
    router.bind(f"tcp://127.0.0.1:{first_port + number}")
    dealers = {}
    for other in neighbours:
        dealer = context.socket(zmq.DEALER)
        dealer.setsockopt(zmq.IDENTITY, str(number).encode())
        dealer.connect(f"tcp://127.0.0.1:{first_port + other}")
        dealers[other] = dealer
    value = np.random.default_rng(number).normal(size=shape)
    waiting = {}
    ready.wait()
    began = time.perf_counter()
    for turn in range(rounds):
        content = turn.to_bytes(4, "little") + value.tobytes()
        for dealer in dealers.values():
            dealer.send(content)
        got = waiting.pop(turn, {})
        while len(got) < len(neighbours):
            identity, content = router.recv_multipart()
            of, other = int.from_bytes(content[:4], "little"), int(identity)
            block = np.frombuffer(content[4:]).reshape(shape)
            (got if of == turn else waiting.setdefault(of, {}))[other] = block
        mean = weights[number] * value
        for other in neighbours:
            mean += weights[other] * got[other]
        value = mean
    done.put((number, time.perf_counter() - began, float(value.mean())))
    for dealer in dealers.values():
        dealer.close(linger=1000)
    router.close(linger=1000)


def seconds(peers, degree, rounds, shape, first_port=23_000):
    """Seconds of the slowest peer for so many rounds, without the time that processes take to start."""
    graph = networkx.random_regular_graph(degree, peers, seed=1)
    ready, done = multiprocessing.Barrier(peers), multiprocessing.Queue()
    processes = []
    for number in range(peers):
        neighbours = sorted(graph[number])
        weights = {other: 1 / (1 + degree) for other in neighbours}
        weights[number] = 1 - sum(weights.values())
        arguments = (number, neighbours, weights, first_port, rounds, shape, ready, done)
        process = multiprocessing.Process(target=peer, args=arguments)
        process.start()
        processes.append(process)
    ended = [done.get(timeout=300) for _ in processes]
    for process in processes:
        process.join(timeout=30)
    return max(seconds for _, seconds, _ in ended)
