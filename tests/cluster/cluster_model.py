"""The etcd of the simulation (tests/sim/etcd/etcd_store.h) answers as etcd does.

Random requests of the kinds that the server sends, and such that name past, compacted and future revisions, go to a new
etcd and to `sim --etcd`. Status and body of both answers must be the same, but for what the model does not have: ids of
members, versions of keys, terms. A transaction writes no key twice, which etcd refuses and the server never does.
"""

import json
import os
import random
import subprocess
import sys
import urllib.error
import urllib.request

from cluster import Etcd, skip_without_etcd, text

KEYS = [f"/m/{letter}" for letter in "abcdefgh"]
REQUESTS = 3000


class Model:
    def __init__(self):
        self.process = subprocess.Popen([os.environ["SIM"], "--etcd"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def ask(self, path, body):
        self.process.stdin.write(f"{path} {json.dumps(body)}\n")
        self.process.stdin.flush()
        status, answer = self.process.stdout.readline().split(" ", 1)
        return int(status), json.loads(answer)

    def close(self):
        self.process.stdin.close()
        assert self.process.wait() == 0


def ask_etcd(etcd, path, body):
    url = f"{etcd.addresses(etcd.client_ports)[0]}/v3/{path}"
    try:
        with urllib.request.urlopen(url, data=json.dumps(body).encode(), timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def plain(answer):
    """Without what the model does not have. A header inside of a transaction has the revision in mid of it."""
    if isinstance(answer, list):
        return [plain(one) for one in answer]
    if not isinstance(answer, dict):
        return answer
    dropped = {"cluster_id", "member_id", "raft_term", "version", "lease", "header"}
    kept = {key: plain(value) for key, value in answer.items() if key not in dropped}
    if kept.get("count") == "0" or kept.get("deleted") == "0":  # etcd leaves it out
        kept = {key: value for key, value in kept.items() if value != "0"}
    return kept


def revision_of(answer):
    return int(answer.get("header", {}).get("revision", 0))


class Requests:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.revision, self.compacted = 1, 0

    def some_revision(self):
        """Of now mostly; else of the past, around the compacted one, or of the future."""
        kind = self.random.randrange(6)
        if kind < 2:
            return {}
        if kind == 2:
            return {"revision": str(max(1, self.compacted + self.random.randrange(-2, 3)))}
        if kind == 3:
            return {"revision": str(self.revision + self.random.randrange(3))}
        return {"revision": str(self.random.randrange(1, self.revision + 1))}

    def span(self):
        first, last = sorted(self.random.sample(KEYS, 2))
        return {"key": text(first), "range_end": text(last)} if self.random.random() < 0.5 else {"key": text(first)}

    def range(self):
        limit = {"limit": str(self.random.randrange(1, 4))} if self.random.random() < 0.3 else {}
        return {**self.span(), **self.some_revision(), **limit}

    def put(self):
        return {"key": text(self.random.choice(KEYS)), "value": text(self.random.choice(["", "x", "y", "z"]))}

    def compare(self):
        key = text(self.random.choice(KEYS))
        return self.random.choice([
            {"target": "VALUE", "result": "EQUAL", "key": key, "value": text(self.random.choice(["x", "y"]))},
            {"target": "CREATE", "result": "GREATER", "create_revision": "0", "key": key},
            {"target": "CREATE", "result": "EQUAL", "create_revision": "0", "key": key},
            {"target": "MOD", "result": "EQUAL", "key": key,
             "mod_revision": str(self.random.choice([0, self.revision, self.random.randrange(1, 40)]))}])

    def operations(self):
        ranges = [{"requestRange": self.range()} for _ in range(self.random.randrange(3))]
        first, last = sorted(self.random.sample(KEYS, 2))
        puts = [{"requestPut": {"key": text(key), "value": text("w")}} for key in (first, last)]
        write = self.random.choice([[], [{"requestPut": self.put()}], [{"requestDeleteRange": self.span()}], puts])
        return ranges + write if self.random.random() < 0.5 else write + ranges

    def draw(self):
        kind = self.random.randrange(20)
        if kind < 7:
            return "kv/range", self.range()
        if kind < 11:
            return "kv/put", self.put()
        if kind < 19:
            return "kv/txn", {"compare": [self.compare() for _ in range(self.random.randrange(3))],
                              "success": self.operations(), "failure": self.operations()}
        return "kv/compaction", {**self.some_revision()} or {"revision": str(self.revision)}


def run(etcd, model, seed):
    requests, refused = Requests(seed), {}
    for number in range(REQUESTS):
        path, body = requests.draw()
        real, simulated = ask_etcd(etcd, path, body), model.ask(path, body)
        where = f"seed {seed}, request {number}: {path} {json.dumps(body)}\netcd:  {real}\nmodel: {simulated}"
        assert real[0] == simulated[0] and plain(real[1]) == plain(simulated[1]), where
        if real[0] == 200:
            assert revision_of(real[1]) == revision_of(simulated[1]), where
            requests.revision = revision_of(real[1])
            if path == "kv/compaction":
                requests.compacted = int(body["revision"])
        else:
            refused[real[1]["error"]] = refused.get(real[1]["error"], 0) + 1
    assert len(refused) == 2 and min(refused.values()) > 20, refused
    return refused


def main():
    skip_without_etcd()
    seed = int(os.environ.get("FOGMARCH_SEED", "1"))
    with Etcd() as etcd:
        model = Model()
        try:
            print(f"seed {seed}: {REQUESTS} requests, refused: {run(etcd, model, seed)}")
        finally:
            model.close()
    print("[  PASSED  ] the model answers as etcd does")


if __name__ == "__main__":
    sys.exit(main())
