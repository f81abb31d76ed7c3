"""The Python bindings against numbers counted here, the tool's files, and what goes wrong.

Run by CTest with REUSESCOPE_LIBRARY (the library built), REUSESCOPE (the tool) and
SOURCE (the tree) in the environment.
"""
import ctypes
import gc
import json
import os
import pickle
import re
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy as np

import reusescope
from reusescope import _columns, _engine, _library

SOURCE = os.environ["SOURCE"]
TOOL = os.environ["REUSESCOPE"]


def brute_force(lines):
    """{distance: count}, first uses: by a list in order of last use."""
    stack, distances, cold = [], {}, 0
    for line in lines:
        if line in stack:
            at = stack.index(line)
            distance = len(stack) - 1 - at
            distances[distance] = distances.get(distance, 0) + 1
            del stack[at]
        else:
            cold += 1
        stack.append(line)
    return distances, cold


def lines_of(addresses, sizes, line):
    for address, size in zip(addresses, sizes):
        yield from range(int(address) // line, (int(address) + max(int(size), 1) - 1) // line + 1)


class Scratch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)


class Numbers(unittest.TestCase):
    def test_distances_are_those_of_brute_force(self):
        rng = np.random.default_rng(20)
        for line in (1, 64, 4096):
            addresses = rng.integers(0, 200 * line, 3000).astype(np.uint64)
            sizes = rng.integers(0, 2 * line + 1, 3000)
            profile = reusescope.analyze(addresses, sizes, line=line)
            distances, cold = brute_force(lines_of(addresses, sizes, line))
            self.assertEqual({int(b["lo"]): int(b["count"]) for b in profile.rd}, distances)
            self.assertTrue((profile.rd["lo"] == profile.rd["hi"]).all())
            self.assertEqual(profile.cold, cold)
            self.assertEqual(profile.references, sum(distances.values()) + cold)
            for point in profile.mrc[::7]:
                misses = cold + sum(n for d, n in distances.items() if d >= point["lines"])
                self.assertAlmostEqual(point["miss_ratio"], misses / profile.references, places=12)
                self.assertEqual(profile.miss_ratio(int(point["lines"])), point["miss_ratio"])

    def test_intervals_and_totals(self):
        profile = reusescope.analyze([0, 64, 0, 128, 64, 0], sizes=8)
        self.assertEqual([tuple(b) for b in profile.ri], [(2, 2, 1), (3, 3, 2)])
        self.assertEqual((profile.accesses, profile.references, profile.cold, profile.distinct, profile.threads,
                          profile.line_bytes, profile.invalidated), (6, 6, 3, 3, 1, 64, 0))
        self.assertEqual(profile.totals["pruned"], 0)
        self.assertEqual(profile.rd_quantile(0.5), 2)
        self.assertEqual(len(reusescope.analyze([0, 0], intervals=False).ri), 0)

    def test_miss_ratios_of_many_sizes(self):
        profile = reusescope.analyze(np.tile(np.arange(100, dtype=np.uint64) * 64, 10))
        sizes = np.array([[0, 64], [6399, 6400]])
        self.assertEqual(profile.miss_ratio(bytes=sizes).tolist(), [[1.0, 1.0], [1.0, 0.1]])
        self.assertEqual(profile.miss_ratio(np.int64(100)), 0.1)
        self.assertIsInstance(profile.miss_ratio(100), float)
        for wrong in ({}, {"lines": 1, "bytes": 1}):
            with self.assertRaises(TypeError):
                profile.miss_ratio(**wrong)
        with self.assertRaises(ValueError):
            profile.miss_ratio(-1)

    def test_every_column_reaches_the_library(self):
        count = 3 * _columns.CHUNK // 2
        rng = np.random.default_rng(3)
        addresses = rng.integers(0, 1 << 20, count).astype(np.uint64)
        kinds = rng.integers(0, 3, count)
        threads = rng.choice(np.array([77, 5, 2**63 + 1], np.uint64), count)
        pcs = 0x400000 + rng.integers(0, 4, count)
        profile = reusescope.analyze(addresses, 4, kinds, threads, pcs)
        self.assertEqual(reusescope.analyze([0, 64, 0], pcs=5).code["references"].tolist(), [3])
        self.assertEqual(sorted(t["tid"] for t in profile.json["threads"]), [5, 77, 2**63 + 1])
        for row in profile.json["threads"]:
            self.assertGreaterEqual(row["references"], int((threads == np.uint64(row["tid"])).sum()))
        by_kind = {row["kind"]: row["references"] for row in profile.json["kinds"]}
        crossing = ((addresses % 64) > 60).astype(int) + 1
        self.assertEqual(by_kind, {name: int(crossing[kinds == code].sum())
                                   for code, name in enumerate(("read", "write", "fetch"))})
        self.assertEqual(sorted(profile.code["pc"].tolist()), [0x400000, 0x400001, 0x400002, 0x400003])
        self.assertEqual(int(profile.code["references"].sum()), profile.references)
        self.assertEqual(profile.code["function"][0], "")

    def test_kinds_by_letter(self):
        def kinds_of(kinds):
            return {row["kind"]: row["references"] for row in reusescope.analyze([0, 1, 2, 3], kinds=kinds).json["kinds"]}
        for kinds in ("RWWI", ["R", "W", "W", "I"], np.array([b"R", b"W", b"W", b"I"]), [0, 1, 1, 2]):
            self.assertEqual(kinds_of(kinds), {"read": 1, "write": 2, "fetch": 1})
        with self.assertRaisesRegex(ValueError, "addresses: not all from 0 to 18446744073709551615"):
            reusescope.analyze([2**64])
        with self.assertRaisesRegex(ValueError, "'X' is not one of R, W, I"):
            kinds_of("RXWW")

    def test_private_stacks_and_groups_of_cores(self):
        lines = [0, 64, 128, 128, 0, 64, 0]
        columns = dict(kinds=list("RRRRWRR"), threads=[1, 1, 1, 1, 2, 1, 1])
        private = reusescope.analyze(lines, 8, model="private", **columns)
        self.assertEqual((private.made["model"], private.cold, private.invalidated), ("private", 4, 1))
        together = reusescope.analyze(lines, 8, model="private", cores="0-1", **columns)
        self.assertEqual((together.cold, together.invalidated), (3, 0))
        with self.assertRaises(reusescope.InvalidArgumentError):
            reusescope.analyze(lines, model="single", cores="0-1")

    def test_requests_have_bytes(self):
        profile = reusescope.analyze([1, 2, 1, 2], sizes=[10, 30, 10, 30], engine="requests")
        self.assertEqual(len(profile.byte_miss_ratio), len(profile.mrc))
        self.assertEqual((profile.mrc["miss_ratio"][-1], profile.byte_miss_ratio[-1]), (0.5, 0.5))
        self.assertIsNone(reusescope.analyze([1]).byte_miss_ratio)

    def test_engines_and_error_bars(self):
        addresses = np.random.default_rng(1).integers(0, 1 << 24, 200000).astype(np.uint64)
        exact = reusescope.analyze(addresses)
        parallel = reusescope.analyze(addresses, engine="parallel", workers=2)
        self.assertEqual(exact.rd.tolist(), parallel.rd.tolist())
        sampled = reusescope.analyze(addresses, engine="shards:0.1", seed=4)
        self.assertTrue((sampled.mrc["low"] < sampled.mrc["high"]).any())
        self.assertTrue(sampled.made["sampling"])
        phases = reusescope.analyze(addresses, phases=3, max_distance=100, bins=8, top_lines=5)
        self.assertEqual(len(phases.json["phases"]), 3)
        self.assertEqual(int(phases.rd["hi"][-1]), 2**64 - 1)
        self.assertEqual(phases.json["bins"]["per_octave"], 8)

    def test_lists_of_large_addresses(self):
        profile = reusescope.analyze([2**64 - 1, 1, 2**64 - 64, 0])
        self.assertEqual((profile.distinct, profile.rd.tolist()), (2, [(1, 1, 2)]))

    def test_nothing_is_a_profile_of_zeros(self):
        for nothing in ([], np.array([], np.uint64)):
            profile = reusescope.analyze(nothing)
            self.assertEqual((profile.references, len(profile.mrc), len(profile.rd), len(profile.code)), (0, 0, 0, 0))
            self.assertIsNone(profile.rd_quantile(0.5))


class Memory(unittest.TestCase):
    def pushed(self, addresses, **columns):
        """Where the addresses of each batch lie, and how many."""
        seen = []
        push = _engine.Engine._push
        def look(engine, batch):
            seen.append((batch.addr, batch.count, ctypes.cast(batch.addr, ctypes.POINTER(ctypes.c_uint64))[0]))
            push(engine, batch)
        _engine.Engine._push = look
        self.addCleanup(setattr, _engine.Engine, "_push", push)
        reusescope.analyze(addresses, **columns)
        return seen

    def test_arrays_are_not_copied(self):
        count = 2 * _columns.CHUNK + 5
        for kind in (np.uint64, np.int64):
            addresses = np.arange(count, dtype=kind)
            at = addresses.ctypes.data
            wanted = [(at + 8 * i, min(_columns.CHUNK, count - i), i) for i in range(0, count, _columns.CHUNK)]
            self.assertEqual(self.pushed(addresses), wanted)
            self.assertEqual(self.pushed(addresses, sizes=np.ones(count, np.uint8)), wanted)

    def test_other_arrays_are_converted(self):
        wanted = np.arange(1000, dtype=np.uint64) * 64
        same = reusescope.analyze(wanted).rd.tolist()
        for other in (wanted.astype(np.uint32), wanted.astype(">u8"), np.repeat(wanted, 2)[::2], wanted.tolist(),
                      np.asfortranarray(np.vstack([wanted, wanted]))[0]):
            seen = self.pushed(other)
            self.assertEqual([s[1:] for s in seen], [(1000, 0)])
            self.assertEqual(reusescope.analyze(other).rd.tolist(), same)

    def test_read_only_arrays_and_files_in_memory(self):
        addresses = np.arange(100, dtype=np.uint64)
        addresses.flags.writeable = False
        self.assertEqual(reusescope.analyze(addresses).references, 100)
        with tempfile.NamedTemporaryFile() as file:
            addresses.tofile(file.name)
            mapped = np.memmap(file.name, np.uint64, "r")
            self.assertEqual(self.pushed(mapped)[0][0], mapped.ctypes.data)

    def test_results_cannot_be_changed_and_outlive_their_profile(self):
        curve = reusescope.analyze([0, 64, 0]).mrc
        gc.collect()
        self.assertEqual(curve["miss_ratio"].tolist(), [1.0, 2 / 3])
        with self.assertRaises(ValueError):
            curve["miss_ratio"][0] = 0

    def test_other_threads_run_meanwhile(self):
        addresses = np.random.default_rng(1).integers(0, 1 << 22, 300000).astype(np.uint64)
        results = []
        workers = [threading.Thread(target=lambda: results.append(reusescope.analyze(addresses).rd.tolist())) for _ in range(3)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.assertEqual(results[0], results[1])
        self.assertEqual(results[0], results[2])
        self.assertEqual(len(results), 3)


class Files(Scratch):
    def setUp(self):
        super().setUp()
        self.profile = reusescope.analyze(np.random.default_rng(2).integers(0, 1 << 17, 5000).astype(np.uint64), 8,
                                          pcs=np.arange(5000) % 3)

    def test_profiles_go_to_files_and_back(self):
        for name in ("p.data", "p.json"):
            self.profile.save(self.path(name))
            again = reusescope.load(self.path(name))
            self.assertEqual(again.json_text(), self.profile.json_text())
        with open(self.path("p.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file), self.profile.json)

    def test_the_tool_reads_what_is_written_and_writes_what_is_read(self):
        self.profile.save(self.path("p.data"))
        shown = subprocess.run([TOOL, "report", self.path("p.data"), "--format", "json", "-o", "-"], check=True, capture_output=True)
        self.assertEqual(json.loads(shown.stdout)["rd"], self.profile.json["rd"])
        subprocess.run([TOOL, "gen", "-q", "zipf,lines=100", "-n", "5000", "-o", self.path("t.rsct")], check=True)
        subprocess.run([TOOL, "analyze", self.path("t.rsct"), "--line", "64,4096", "-q", "-o", self.path("two.data")], check=True)
        both = reusescope.load_all(self.path("two.data"))
        self.assertEqual([profile.line_bytes for profile in both], [64, 4096])
        self.assertEqual(reusescope.load(self.path("two.data")).line_bytes, 64)
        self.assertEqual(reusescope.analyze(self.path("t.rsct"), line=4096).rd.tolist(), both[1].rd.tolist())

    def test_traces_are_written_and_read(self):
        rng = np.random.default_rng(8)
        columns = (rng.integers(0, 1 << 40, 100000).astype(np.uint64), rng.integers(1, 65, 100000), rng.integers(0, 3, 100000),
                   rng.choice([9, 4, 1000], 100000), rng.integers(0, 50, 100000))
        reusescope.write_trace(self.path("t.rsct"), *columns)
        parts = list(reusescope.read_trace(self.path("t.rsct")))
        for i, column in enumerate(columns):
            np.testing.assert_array_equal(np.concatenate([part[i] for part in parts]), column)
        self.assertEqual(reusescope.analyze(*columns).rd.tolist(), reusescope.analyze(self.path("t.rsct")).rd.tolist())
        columns[0].tofile(self.path("t.raw"))
        raw = reusescope.analyze(self.path("t.raw"), format="raw64")
        self.assertEqual(raw.rd.tolist(), reusescope.analyze(columns[0]).rd.tolist())

    def test_tables_and_requests(self):
        with open(self.path("t.txt"), "w", encoding="utf-8") as file:
            file.write("17,load,1000,8\n18,store,1040,4\n")
        columns = "kind=2,addr=3:hex,size=4"
        read = next(reusescope.read_trace(self.path("t.txt"), columns=columns))
        self.assertEqual([column.tolist() for column in read[:3]], [[0x1000, 0x1040], [8, 4], [0, 1]])
        self.assertEqual(reusescope.analyze(self.path("t.txt"), columns=columns).distinct, 2)
        with self.assertRaises(TypeError):
            reusescope.analyze([1, 2], columns=columns)
        with self.assertRaises(reusescope.InvalidArgumentError):
            reusescope.analyze(self.path("t.txt"), columns="size=4")
        with open(self.path("t.oracle"), "wb") as file:
            file.write(b"".join(struct.pack("<IQIq", 0, name, 100, -1) for name in (1, 2, 1)))
        profile = reusescope.analyze(self.path("t.oracle"), format="oracleGeneral", engine="requests")
        self.assertEqual((profile.distinct, profile.cold), (2, 2))
        with self.assertRaisesRegex(reusescope.UnsupportedError, "requests for objects"):
            reusescope.analyze(self.path("t.oracle"), format="oracleGeneral")
        self.assertEqual(next(reusescope.read_trace(self.path("t.oracle"), format="oracleGeneral")).addresses.tolist(), [1, 2, 1])

    def test_pickles(self):
        self.assertEqual(pickle.loads(pickle.dumps(self.profile)).json_text(), self.profile.json_text())

    def test_piece_by_piece(self):
        addresses = np.random.default_rng(5).integers(0, 1 << 16, 1000).astype(np.uint64)
        with reusescope.Engine() as engine:
            engine.push(addresses[:300], threads=7)
            engine.push(addresses[300:], threads=3)
            parts = engine.finish()
        self.assertEqual(parts.rd.tolist(), reusescope.analyze(addresses).rd.tolist())
        self.assertEqual([t["tid"] for t in parts.json["threads"]], [7, 3])
        with self.assertRaisesRegex(ValueError, "finished or closed"):
            engine.push([1])


class Failures(Scratch):
    def test_each_error_is_its_exception(self):
        with self.assertRaisesRegex(reusescope.FileError, "nowhere.data") as caught:
            reusescope.load("nowhere.data")
        self.assertIsInstance(caught.exception, OSError)
        self.assertEqual(caught.exception.code, -3)
        with open(self.path("cut.data"), "wb") as file:
            file.write(b"what is this")
        with self.assertRaisesRegex(reusescope.FormatError, "neither a reusescope profile nor JSON") as caught:
            reusescope.load(self.path("cut.data"))
        self.assertEqual(caught.exception.offset, 0)
        with self.assertRaises(reusescope.VersionError):
            reusescope.Profile.from_json('{"schema":"reusescope-profile/9"}')
        with self.assertRaisesRegex(reusescope.InvalidArgumentError, "not one of auto, exact"):
            reusescope.analyze([1], engine="magic")
        with self.assertRaisesRegex(reusescope.Error, "line size 48"):
            reusescope.analyze([1], line=48)
        with self.assertRaisesRegex(reusescope.FileError, "t.rsct"):
            reusescope.analyze(self.path("t.rsct"))
        with self.assertRaises(reusescope.FileError):
            reusescope.analyze([1]).save(self.path("no/such/folder/p.data"))

    def test_arguments_that_make_no_sense(self):
        for wrong, kind in (({"addresses": [1.5]}, TypeError), ({"addresses": [[1]]}, TypeError),
                            ({"addresses": [1, 2], "sizes": [1]}, ValueError), ({"addresses": [1], "sizes": -1}, ValueError),
                            ({"addresses": [1], "sizes": [2**32]}, ValueError), ({"addresses": [1], "kinds": 3}, ValueError),
                            ({"addresses": [1], "threads": [0.5]}, TypeError), ({"addresses": [1], "line": 0}, ValueError),
                            ({"addresses": [1], "workers": -1}, ValueError), ({"addresses": [1], "line": 2**32 + 64}, ValueError),
                            ({"addresses": [1], "format": "din"}, TypeError), ({"addresses": "t.rsct", "sizes": 1}, TypeError),
                            ({"addresses": ["a"]}, TypeError)):
            with self.subTest(wrong=wrong), self.assertRaises(kind):
                reusescope.analyze(**wrong)

    def run_python(self, code, **environment):
        clean = {key: value for key, value in os.environ.items()
                 if key not in ("REUSESCOPE_LIBRARY", "LD_LIBRARY_PATH", "PKG_CONFIG_PATH")}
        run = subprocess.run([sys.executable, "-c", code], env={**clean, **environment}, capture_output=True, text=True, check=False)
        return run.stdout + run.stderr

    def test_a_missing_library_is_said(self):
        said = self.run_python("import reusescope; reusescope.analyze([1])", REUSESCOPE_LIBRARY="/nowhere/libreusescope.so.0")
        self.assertIn("LibraryError: REUSESCOPE_LIBRARY: /nowhere/libreusescope.so.0: cannot open", said)
        said = self.run_python("import reusescope._library as l; l.SONAME='libreusescope.so.none'; import reusescope; reusescope.analyze([1])",
                               PATH="/nowhere")
        self.assertRegex(said, r"LibraryError: libreusescope.so.none was not found .*make install")

    def test_another_library_is_refused(self):
        with open(self.path("other.c"), "w", encoding="utf-8") as file:
            file.write("int rsc_abi(void) { return 7; }\n")
        subprocess.run(["cc", "-shared", "-fPIC", self.path("other.c"), "-o", self.path("other.so")], check=True)
        said = self.run_python("import reusescope; reusescope.analyze([1])", REUSESCOPE_LIBRARY=self.path("other.so"))
        self.assertRegex(said, "LibraryError: .*other.so: its binary interface is number 7, but these bindings need 0")
        subprocess.run(["cc", "-shared", "-fPIC", "-Drsc_abi=unrelated", self.path("other.c"), "-o", self.path("other.so")], check=True)
        said = self.run_python("import reusescope; reusescope.analyze([1])", REUSESCOPE_LIBRARY=self.path("other.so"))
        self.assertRegex(said, "LibraryError: .*other.so: no libreusescope")


class Interface(unittest.TestCase):
    def test_structs_are_the_librarys(self):
        """Each ctypes struct against tests/abi/reusescope.abi: size, offsets, sizes and names of fields."""
        described, name = {}, None
        with open(os.path.join(SOURCE, "tests", "abi", "reusescope.abi"), encoding="utf-8") as file:
            for line in file:
                words = line.split()
                if words[0] == "struct":
                    name = words[1]
                    described[name] = (int(words[2]), [])
                elif line.startswith("  "):
                    described[name][1].append((int(words[0]), int(words[1]), words[-1]))
        named = {"rsc_error": _library.ErrorStruct}
        for value in vars(_library).values():
            if isinstance(value, type) and issubclass(value, ctypes.Structure) and value is not _library.ErrorStruct:
                named["rsc_" + re.sub(r"(?<!^)(?=[A-Z])", "_", value.__name__).lower()] = value
        self.assertGreaterEqual(len(named), 10)
        for name, struct in named.items():
            fields = [(getattr(struct, field).offset, getattr(struct, field).size, field) for field, _ in struct._fields_]
            self.assertEqual((ctypes.sizeof(struct), fields), described[name], name)

    def test_versions_agree(self):
        self.assertEqual(reusescope.library_version(), reusescope.__version__)
        with open(os.path.join(SOURCE, "python", "pyproject.toml"), encoding="utf-8") as file:
            self.assertIn(f'\nversion = "{reusescope.__version__}"\n', file.read())
        with open(os.path.join(SOURCE, "include", "reusescope", "reusescope.h"), encoding="utf-8") as file:
            self.assertIn(f"#define RSC_ABI {_library.ABI}\n", file.read())

    def test_types(self):
        try:
            import mypy  # noqa: F401
        except ImportError:
            self.skipTest("mypy is not installed")
        with tempfile.TemporaryDirectory() as cache:
            run = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", cache, "--config-file",
                                  os.path.join(SOURCE, "python", "pyproject.toml"), os.path.join(SOURCE, "python", "reusescope"),
                                  os.path.join(SOURCE, "tests", "python", "typed_use.py")], capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 0, run.stdout)

    def test_rows_and_their_misses(self):
        profile = reusescope.load(os.path.join(SOURCE, "tests", "fuzz", "corpus", "profile", "rows.json"))
        misses = profile.misses(bytes=896 << 10)
        by_function = {}
        for row, count in zip(profile.code, misses):
            by_function[row["function"]] = by_function.get(row["function"], 0) + int(count)
        # as `reusescope report --format folded --at 896K` has them (tests/cli/export.t)
        self.assertEqual({name: count for name, count in by_function.items() if count},
                         {"sweep": 70000, "relax": 1800, "copy": 400})
        self.assertEqual(profile.misses(bytes=1 << 40).tolist(), (profile.code["cold"] + profile.code["invalidated"]).tolist())
        for name in ("pairs", "objects"):
            rows = getattr(profile, name)
            self.assertEqual(len(rows), len(profile.json[name]))
            self.assertEqual(rows["references"].tolist(), [row["references"] for row in profile.json[name]])
            self.assertTrue((profile.misses(name, bytes=64) >= profile.misses(name, bytes=1 << 20)).all())
        self.assertIn("relax", profile.pairs["reuse_function"])
        self.assertIn("grid", profile.objects["name"])
        with self.assertRaisesRegex(ValueError, "not one of code, pairs, objects"):
            profile.misses("lines", bytes=64)

    def test_notebooks_show_profiles(self):
        profile = reusescope.load(os.path.join(SOURCE, "tests", "fuzz", "corpus", "profile", "rows.json"))
        text = profile._repr_html_()
        self.assertIn("77,060 references to 70,000 lines of 64 bytes, 1 thread, by exact", text)
        self.assertIn("<td>solver.c:71 sweep</td><td>70,000</td><td>70,000</td><td>70,000</td>", text)
        self.assertIn("<polyline", text)
        hostile = json.loads(profile.json_text())
        hostile["code"][0]["function"] = "<script>alert(1)</script>"
        self.assertNotIn("<script>", reusescope.Profile.from_json(json.dumps(hostile))._repr_html_())
        self.assertIn("0 references", reusescope.analyze(np.empty(0, np.uint64))._repr_html_())

    def test_pictures(self):
        try:
            import matplotlib
        except ImportError:
            self.skipTest("matplotlib is not installed")
        matplotlib.use("Agg")
        from matplotlib import pyplot
        profile = reusescope.analyze(np.arange(1000, dtype=np.uint64) * 64 % 12800, engine="shards:0.5")
        ax = profile.plot(label="sweeps", caches={"L1": 4096})
        drawn = ax.lines[0].get_ydata()
        np.testing.assert_array_equal(drawn, profile.mrc["miss_ratio"])
        self.assertEqual(ax.get_legend().get_texts()[0].get_text(), "sweeps")
        self.assertEqual(len(ax.collections), 1)
        for what in ("rd", "ri"):
            other = profile.plot(what=what)
            self.assertEqual(len(other.patches), len(getattr(profile, what)))
        self.assertIs(profile.plot(ax), ax)
        ax.figure.canvas.draw()
        pyplot.close("all")
        with self.assertRaisesRegex(ValueError, "not one of mrc, rd, ri"):
            profile.plot(what="pie")


if __name__ == "__main__":
    unittest.main()
