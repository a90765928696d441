#!/usr/bin/env python3
"""Decodes the vectors of docs/vectors by docs/wire.md alone, in both forms and with inputs, and compares.

    wirecheck.py DIRECTORY

Prints what it checked and exits 0, or prints every difference and exits 1. It shares no code with the packages it checks.
"""

import json
import os
import sys


class Refused(Exception):
    """The bytes are no packet; the argument is the name of the error."""


def check(ok, name):
    if not ok:
        raise Refused(name)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def bytes(self, n):
        check(self.at + n <= len(self.data), "truncated")
        self.at += n
        return self.data[self.at - n:self.at]

    def unsigned(self, n):
        return int.from_bytes(self.bytes(n), "little")

    def signed(self, n):
        return int.from_bytes(self.bytes(n), "little", signed=True)

    def rest(self):
        return self.bytes(len(self.data) - self.at)


def frame(value, least=0):
    check(least <= value < 1 << 31, "frame")
    return value


def checked(p):
    """The rules that hold for what a packet says, whichever form it came in."""
    inputs, fec = p["inputs"], p["fec"]
    sections = len(p["message"] or "") // 2
    if fec:
        check(1 <= fec["size"] <= 15 and fec["index"] <= 15, "fec")
        check((fec["index"] >= fec["size"]) == (fec["parity"] is not None), "fec")
        sections += len(fec["parity"] or "") // 2
    if inputs:
        check(inputs["count"] <= 64 and len(inputs["run"]) // 2 <= 400, "too long")
        sections += len(inputs["run"]) // 2
        last = frame(frame(inputs["first"]) + inputs["count"] - 1)
        lead = last - frame(p["newest"], -1)
        check(-1 << 15 <= lead < 1 << 15, "frame")
        check(lead >= 0 or not inputs["current"], "frame")
    check(sections <= 1145, "too long")
    if p["newest"] is not None:
        frame(p["newest"], -1)
    if p["hash"]:
        frame(p["hash"]["frame"])
    if p["confirmed"] is not None:
        frame(p["confirmed"], -1)
        check(p["newest"] - 191 <= p["confirmed"] <= p["newest"] + 64, "frame")
    return p


def parse_full(b):
    check(len(b) <= 1200, "too long")
    magic = b"V2RB"
    check(len(b) >= 4 or not magic.startswith(b), "truncated")
    check(b[:4] == magic, "magic")
    check(len(b) >= 9, "truncated")
    intact = int.from_bytes(b[5:9], "little") == crc32c(b[4:5] + b[9:])
    check(not intact or b[4] == 1, "version")
    r = Reader(b)
    r.bytes(9)
    seq, ack, bits, flags, count = r.unsigned(2), r.unsigned(2), r.unsigned(4), r.unsigned(2), r.unsigned(1)
    first, newest, lag = r.signed(4), r.signed(4), r.signed(2)
    hash_frame, hash_, confirmed = r.signed(4), r.unsigned(4), r.signed(4)
    loss, burst, group, index, size = r.unsigned(2), r.unsigned(1), r.unsigned(2), r.unsigned(1), r.unsigned(1)
    lengths = [r.unsigned(2) for _ in range(3)]
    run, parity, message = [r.bytes(n) for n in lengths]
    check(intact, "crc")
    check(r.at == len(b), "length")

    def has(bit):
        return flags >> bit & 1 == 1

    check(flags < 1 << 10 and has(0) == has(1), "field")
    check(has(4) or ack == bits == 0, "field")
    check(has(5) or lag == 0, "field")
    check(has(6) or hash_frame == hash_ == 0, "field")
    check(has(7) or confirmed == 0, "field")
    check(has(8) or loss == burst == 0, "field")
    check(has(9) or group == index == size == len(parity) == 0, "fec")
    check(count > 0 or first == 0 and not run and not has(0), "field")
    p = {
        "seq": seq, "advanced": has(2), "main": has(3), "newest": newest,
        "ack": {"seq": ack, "bits": bits} if has(4) else None,
        "lag": lag if has(5) else None,
        "inputs": {"first": first, "count": count, "current": has(0), "run": run.hex()} if count else None,
        "hash": {"frame": hash_frame, "hash": hash_} if has(6) else None,
        "confirmed": confirmed if has(7) else None,
        "loss": {"share": loss, "burst": burst} if has(8) else None,
        "fec": {"group": group, "index": index, "size": size, "parity": parity.hex() or None} if has(9) else None,
        "message": message.hex() or None,
    }
    if has(9) and index >= size:
        check(1 <= size <= 15 and index <= 15 and parity, "fec")
        others = [p[k] for k in ("lag", "inputs", "hash", "confirmed", "loss", "message")]
        check(newest == 0 and not has(2) and not has(3) and others == [None] * 6, "field")
        p["newest"] = None
    return checked(p)


def widen(low, top):
    """The one number in [top - 255, top] with this low byte."""
    return top - (top - low) % 256


def parse_compact(b, ref):
    check(len(b) <= 1200, "too long")
    check(len(b) >= 1, "truncated")
    check(b[0] & 0x80, "magic")
    r = Reader(b)
    prefix, ext = r.unsigned(1), 0
    if prefix & 0x40:
        ext = r.unsigned(1)
        check(ext, "field")
    p = dict.fromkeys(("ack", "newest", "lag", "inputs", "hash", "confirmed", "loss", "fec", "message"))
    p["seq"], p["advanced"], p["main"] = r.unsigned(2), bool(prefix & 1), bool(prefix & 2)
    if ext & 1:
        check(not prefix & 8, "field")
    else:
        p["ack"] = {"seq": r.unsigned(2), "bits": 0xFFFFFFFF}
        if prefix & 8:
            p["ack"]["bits"] = r.unsigned(4)
            check(p["ack"]["bits"] != 0xFFFFFFFF, "field")
    if prefix & 4:
        p["lag"] = r.signed(2)
    if prefix & 0x20:
        group, place = r.unsigned(2), r.unsigned(1)
        p["fec"] = {"group": group, "index": place >> 4, "size": place & 15, "parity": None}
        check(place & 15, "fec")
        if place >> 4 >= place & 15:
            check(not prefix & 0x17 and not ext & 0xFE, "field")
            p["fec"]["parity"] = r.rest().hex()
            check(p["fec"]["parity"], "fec")
            return checked(p)
    start = widen(r.unsigned(1), ref + 1)
    if ext & 8:
        check(not ext & 6, "field")
        p["newest"] = frame(start, -1)
    else:
        count = r.unsigned(1)
        lead = count >> 6
        count = (count & 63) + 1
        if ext & 4:
            check(lead == 0, "field")
            lead = r.signed(2)
            check(not 0 <= lead <= 3, "field")
        p["newest"] = frame(frame(frame(start) + count - 1) - lead, -1)
        p["inputs"] = {"first": start, "count": count, "current": not ext & 2}
    if prefix & 0x10:
        near = range(p["newest"] - 255, p["newest"] + 1)
        if ext & 0x10:
            number = r.signed(4)
            check(number not in near, "field")
        else:
            number = frame(widen(r.unsigned(1), p["newest"]))
        p["hash"] = {"frame": number, "hash": r.unsigned(4)}
    else:
        check(not ext & 0x10, "field")
    if ext & 0x20:
        p["confirmed"] = frame(widen(r.unsigned(1), p["newest"] + 64), -1)
    if ext & 0x40:
        p["loss"] = {"share": r.unsigned(2), "burst": r.unsigned(1)}
    if ext & 0x80:
        length = r.unsigned(2)
        check(length, "field")
        p["message"] = r.bytes(length).hex()
    run = r.rest().hex()
    if p["inputs"]:
        p["inputs"]["run"] = run
    else:
        check(not run, "field")
    return checked(p)


def parse_run(b, width, before, count):
    """The count words of a run, or Refused."""
    log = width.bit_length() - 1
    total = int.from_bytes(b, "little")
    check(not b or b[-1], "field")
    at = 0

    def take(n):
        nonlocal at
        at += n
        return total >> at - n & (1 << n) - 1

    words = []
    while len(words) < count:
        m = min(4, count - len(words))
        if not take(1):
            words += [before] * m
            continue
        if m == 3:
            skip = 1 + take(1) if take(1) else 0
        else:
            skip = take({4: 2, 2: 1, 1: 0}[m])
        words += [before] * skip
        ones = 0
        while ones < 3 and take(1):
            ones += 1
        if ones == 0:
            x = 1 << take(log)
        elif ones == 1:
            number = take(log - 3)
            x = take(8) << 8 * number
            check(x & x - 1, "field")
        elif ones == 2:
            low, high = take(log), take(log)
            check(low // 8 < high // 8, "field")
            x = 1 << low | 1 << high
        else:
            x = take(width)
            check(x, "field")
            low, high = (x & -x).bit_length() - 1, x.bit_length() - 1
            check(low // 8 != high // 8 and x != 1 << low | 1 << high, "field")
        before ^= x
        words.append(before)
    check(total >> at == 0, "field")
    return words


def main():
    directory = sys.argv[1]
    faults = checks = 0

    def compare(name, got, want):
        nonlocal faults, checks
        checks += 1
        if got != want:
            faults += 1
            print(f"{name}: got {got}, want {want}")

    def attempt(parse, *args):
        try:
            return parse(*args)
        except Refused as refusal:
            return str(refusal)

    def load(name):
        with open(os.path.join(directory, name), encoding="utf-8") as f:
            return json.load(f)

    for v in load("packets.json"):
        compare(v["name"] + " (full)", attempt(parse_full, bytes.fromhex(v["full"])), v["packet"])
        compare(v["name"] + " (compact)", attempt(parse_compact, bytes.fromhex(v["compact"]), v["ref"]), v["packet"])
    for v in load("refused.json"):
        b = bytes.fromhex(v["bytes"])
        got = attempt(parse_full, b) if v["form"] == "full" else attempt(parse_compact, b, v["ref"])
        compare(f'{v["name"]} ({v["form"]})', got, v["error"])
    for v in load("inputs.json"):
        got = attempt(parse_run, bytes.fromhex(v["run"]), v["width"], v["prev"], len(v["words"]))
        compare(f'{v["name"]} ({v["width"]} bits)', got, v["words"])
    print(f"{checks} checks, {faults} differences")
    return 1 if faults or not checks else 0


if __name__ == "__main__":
    sys.exit(main())
