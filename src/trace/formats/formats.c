/*
 * formats.c - all readable trace formats, in the order in which detection tries
 * them. No file matches two: the text formats differ in their first lines, and
 * formats without a magic number are only read by name (--from).
 */
#include "trace/formats/readers.h"

const struct rsc_format rsc_formats[] = {
    {"rsct", "reusescope's own: compressed, seekable, with threads, pcs and events", rsc_rsct_matches, rsc_rsct_open},
    {"din", "Dinero: lines of \"LABEL ADDRESS\", label 0 read, 1 write, 2 fetch", rsc_din_matches, rsc_din_open},
    {"lackey", "valgrind --tool=lackey --trace-mem=yes", rsc_lackey_matches, rsc_lackey_open},
    {"csv", "text in columns, named by a header or --columns: addr, and any of size, kind, tid, pid, pc",
     rsc_csv_matches, rsc_csv_open},
    {"list", "lines of \"[KIND] ADDRESS [SIZE]\": R, W or I, addresses in decimal or hexadecimal", rsc_list_matches,
     rsc_list_open},
    {"pinatrace", "Pin's pinatrace: lines of \"0xPC: R|W 0xADDRESS [SIZE]\"", rsc_pinatrace_matches,
     rsc_pinatrace_open},
    {"perf-script", "perf script -F comm,pid,tid,time,event,addr,data_src,ip", rsc_perf_script_matches,
     rsc_perf_script_open},
    {"drmemtrace", "DynamoRIO's offline traces, versions 1 to 7: a file of a thread or core, or a folder of them",
     rsc_drmemtrace_matches, rsc_drmemtrace_open},
    {"champsim", "ChampSim: 64 bytes per instruction (not detected: --from champsim)", NULL, rsc_champsim_open},
    {"oracleGeneral", "libCacheSim: 24 bytes per request (not detected; analyze --requests)", NULL,
     rsc_oracle_general_open},
    {"vscsi", "storage requests, versions 1 and 2 (not detected; analyze --requests)", NULL, rsc_vscsi_open},
    {"raw64", "bare little-endian 64-bit addresses (not detected: --from raw64)", NULL, rsc_raw64_open},
    {NULL, NULL, NULL, NULL},
};
