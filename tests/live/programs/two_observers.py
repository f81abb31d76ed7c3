"""two_observers.py PROGRAM OWN.txt QEMU.txt: one process, seen by two.

OWN is the dump of what the rebuilt program recorded of itself, QEMU that of what the
QEMU plugin saw of the same process. Both must have the same accesses in the same
order: address, size, direction. Of QEMU's, those of inserted instructions are left
out: they are told by what they are (the countdown, what lies between lowering the
stack pointer for a call of the runtime and raising it again) or by where they go
(the ring). So is all code that was not rebuilt."""
import bisect
import re
import subprocess
import sys

program, own_name, qemu_name = sys.argv[1:4]


def tool(*words):
    return subprocess.check_output(words, text=True)


maps = [(int(a, 16), int(b, 16)) for a, b in re.findall(r" map  a=0x([0-9a-f]+) b=0x([0-9a-f]+)", open(own_name).read())]
ring = [(a, a + b) for a, b in maps if b > 2 << 30]
assert ring, "where the ring is was not told"
load = min(a for a, b in maps) if "DYN" in tool("readelf", "-hW", program) else 0

# The program's own functions, less what comes with every program (and libgcc's: names with underscores) and our own.
foreign = {"deregister_tm_clones", "register_tm_clones", "frame_dummy", "module_begins", "module_ends"}
symbols = sorted((int(f[0], 16) + load, f[2]) for f in map(str.split, tool("nm", program).splitlines())
                 if len(f) == 3 and f[1] in "tTwWiV")
starts = [s[0] for s in symbols]
text = re.search(r"\] \.text\s+PROGBITS\s+([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", tool("readelf", "-SW", program))
text_start = int(text.group(1), 16) + load
text_end = text_start + int(text.group(2), 16)



def accesses(name):
    """Of the program's own file."""
    for line in open(name):
        field = line.rsplit(None, 1)
        if len(field) == 2 and field[1].startswith("0x") and text_start <= int(field[1], 16) < text_end:
            field = line.split()
            if len(field) == 6 and field[2] in "RW":
                yield field[2], int(field[3], 16), int(field[4]), int(field[5], 16)


# Offsets of the thread's countdown, its two pointers and its limit of runs, as the linker settled them.
listing = tool("objdump", "-d", "--no-show-raw-insn", program)
thread = re.search(r"subq?\s+\$\S+,%fs:0x(\w+)", listing)
fields = "|".join("%x" % (int(thread.group(1), 16) + 8 * i) for i in range(4)) if thread else "none"
code, inserted, lowered = {}, set(), False
for line in listing.splitlines():
    match = re.match(r"\s+([0-9a-f]+):\t(.*)", line)
    if match:
        code[int(match.group(1), 16) + load] = match.group(2)
# Between `lea -128(%rsp), %rsp` and `lea 128(%rsp), %rsp`, in either direction, no instruction is the program's.
for order in 1, -1:
    lowered = False
    for pc in sorted(code, reverse=order < 0):
        insn = code[pc]
        if re.match(r"lea +-0x80\(%rsp\),%rsp" if order > 0 else r"lea +0x80\(%rsp\),%rsp", insn):
            lowered = True
        if re.search(r"%%fs:0x(%s)\b" % fields, insn):
            inserted.add(pc)
        elif lowered and re.match(r"push|pop|call +\*|nop|test|lea|mov +\$|lahf|sahf|seto|cmpb|addb|xadd|cmpq +\$0x0,%fs:\(|mov .*<rsc_asm_thread@|j", insn):
            inserted.add(pc)
        elif lowered:
            lowered = False
        if re.match(r"lea +0x80\(%rsp\),%rsp" if order > 0 else r"lea +-0x80\(%rsp\),%rsp", insn):
            lowered = False

may_access = re.compile(r"\(|%[fg]s:|^(push|pop|call|ret|leave|rep|movs|stos|lods|scas|cmps|movabs|xlat|enter)|(?<![$0-9a-f])0x[0-9a-f]+")


def is_own(pc):
    if not text_start <= pc < text_end:
        return False
    at = bisect.bisect_right(starts, pc) - 1
    return at < 0 or not (symbols[at][1] in foreign or symbols[at][1].startswith("_"))


def is_real(kind, address, size, pc):
    if not is_own(pc) or pc in inserted:
        return False
    insn = code.get(pc, "")
    jumps = insn.startswith("j") and not re.search(r"\*.*\(", insn)  # but for those through memory
    return bool(may_access.search(insn)) and not jumps and not insn.startswith(("lea ", "nop"))


# What is recorded for libc's functions has the pc behind a call, less one: inside of an instruction.
own = [a for a in accesses(own_name) if is_own(a[3]) and a[3] in code]
qemu = list(accesses(qemu_name))
inserted |= {pc for _, address, _, pc in qemu if any(a <= address < b for a, b in ring)}
# Position-independent code loads where that is; nothing of the program's touches it.
inserted |= {pc for pc, insn in code.items() if "<rsc_asm_thread@" in insn or "<rsc_asm_room@" in insn}
through = [address for _, address, _, pc in qemu if re.match(r"subq?\s+\$\S+,%fs:\(%r", code.get(pc, ""))]
if through:
    qemu = [a for a in qemu if not through[0] <= a[1] < through[0] + 32]
# The address of a thread-local operand: %fs:0, additions to it, and the store to the ring.
pcs = sorted(code)
for index, pc in enumerate(pcs):
    loaded = re.match(r"mov +%fs:0x0,%(\w+)$", code[pc])
    behind = index + 1
    while loaded and code[pcs[behind]].startswith("lea ") and code[pcs[behind]].endswith(",%" + loaded.group(1)):
        behind += 1
    if loaded and behind > index + 1 and pcs[behind] in inserted:
        inserted.add(pc)
# QEMU 7.2 reports what its helpers do at whatever it translated before: what xsave and xrstor do in the runtime, below
# the return address of the call into it.
kept, below = [], None
for access in qemu:
    kind, address, _, pc = access
    if pc in inserted and kind == "W" and code[pc].startswith("call"):
        below = address
    elif below is not None and below - 3200 <= address < below:
        continue
    else:
        below = None
        kept.append(access)
qemu = [a for a in kept if is_real(*a)]
for index in range(max(len(own), len(qemu))):
    a, b = (stream[index] if index < len(stream) else None for stream in (own, qemu))
    if not a or not b or a[:3] != b[:3]:
        for near in range(max(0, index - 4), index + 4):
            for who, stream in ("own ", own), ("qemu", qemu):
                if near < len(stream):
                    k, address, size, pc = stream[near]
                    print(f"  {near} {who} {k} {address:#x} {size} at {pc - load:#x}: {code.get(pc)}")
        sys.exit(f"{program}: access {index} differs ({len(own)} and {len(qemu)} in all)")
assert len(own) > 100, len(own)
print(f"{program}: {len(own)} accesses, the same for both")
