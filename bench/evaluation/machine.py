"""The machine of a result, and what experiments need of it."""
import os
import shutil
import subprocess


def _first_line(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        return (done.stdout or done.stderr).splitlines()[0].strip()
    except (OSError, IndexError, subprocess.TimeoutExpired):
        return None


def _field(path, name):
    try:
        with open(path, encoding="utf-8") as file:
            for line in file:
                if line.split(":")[0].strip() == name:
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return None


def describe():
    memory = _field("/proc/meminfo", "MemTotal")
    return {"processor": _field("/proc/cpuinfo", "model name") or "not known", "cores": len(os.sched_getaffinity(0)),
            "memory_gib": round(int(memory.split()[0]) / 2 ** 20, 1) if memory else None,
            "load": round(os.getloadavg()[0], 1), "gpu": _first_line("nvidia-smi", "-L") if shutil.which("nvidia-smi") else None}


def versions(tool):
    return {"reusescope": (_first_line(tool, "--version") or "").replace("reusescope ", "") or None, "kernel": os.uname().release.split("-")[0],
            "compiler": _first_line(os.environ.get("CC", "cc"), "--version"),
            "valgrind": (_first_line("valgrind", "--version") or "").replace("valgrind-", "") or None,
            "qemu": (_first_line("qemu-x86_64", "--version") or "").replace("qemu-x86_64 version ", "") or None,
            "python": ".".join(map(str, os.sys.version_info[:3])), "cuda": (_nvcc_version() or None)}


def nvcc():
    return shutil.which("nvcc") or ("/usr/local/cuda/bin/nvcc" if os.access("/usr/local/cuda/bin/nvcc", os.X_OK) else None)


def _nvcc_version():
    path = nvcc()
    if not path:
        return None
    done = subprocess.run([path, "--version"], capture_output=True, text=True)
    return done.stdout.splitlines()[-2].strip() if len(done.stdout.splitlines()) > 1 else None


class Abilities:
    """missing(need): why this machine lacks it, or None."""
    def __init__(self, tool, build):
        self.tool, self.build, self.doctor = tool, build, None

    def _checks(self, name):
        if self.doctor is None:
            self.doctor = subprocess.run([self.tool, "doctor"], capture_output=True, text=True).stdout
        for line in self.doctor.splitlines():
            if line[4:].startswith(name):
                return None if line.startswith("ok") else line[4 + len(name):].strip()
        return "reusescope doctor does not list it"

    def missing(self, need):
        if need == "build":
            there = os.access(os.path.join(self.build, "bench", "bench_engine"), os.X_OK)
            return None if there else "no build with benchmarks (scripts/build release -DRSC_TESTS=ON)"
        if need in ("valgrind", "gcc", "sqlite3", "perl", "xz"):
            return None if shutil.which(need) else f"{need} is not installed"
        if need == "qemu":
            return self._checks("qemu-x86_64")
        if need == "watching":
            return self._checks("x86-64 under Valgrind") and self._checks("watching a program")
        if need == "cc":
            return None if os.access(os.path.join(self.build, "cc", "as"), os.X_OK) else "this build has no assembler pass (libzydis-dev)"
        if need == "perf":
            return self._checks("debug registers")
        if need == "pmu":
            return self._checks("PMU with addresses")
        if need == "libclang":
            return self._checks("loops of C source")
        if need == "gpu":
            if not shutil.which("nvidia-smi") or not (_first_line("nvidia-smi", "-L") or "").startswith("GPU"):
                return "no NVIDIA GPU"
            return None if nvcc() else "nvcc is not installed"
        raise KeyError(need)
