/*
 * empty_plugin.c - a QEMU plugin with an empty callback for memory accesses: the cost of
 * the interface itself, a lower bound for every collector that uses it.
 */
#include "collect/qemu/qemu_api.h"

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv);

static void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t addr, void *user) {
    (void)vcpu, (void)info, (void)addr, (void)user;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++)
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), on_access, QEMU_NO_REGS, QEMU_MEM_RW, NULL);
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv) {
    (void)info, (void)argc, (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    return 0;
}
