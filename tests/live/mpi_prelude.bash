# What tests with real ranks begin with, after prelude.bash. Sourced.
command -v mpirun >/dev/null || { echo "skipped: no mpirun (apt-get install openmpi-bin)"; exit 77; }

# As whoever runs the tests, on this machine alone: messages through shared memory, nothing looks for a network.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_btl=self,vader OMPI_MCA_oob=tcp OMPI_MCA_oob_tcp_if_include=lo OMPI_MCA_plm_rsh_agent=false
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none
# Its folders and sockets lie in ours.
export TMPDIR=$folder

# ranks N COMMAND...: more ranks than processors are fine.
ranks() {
    local n=$1
    shift
    timeout -k 10 120 mpirun --oversubscribe -n "$n" "$@"
}
