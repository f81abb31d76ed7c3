# names: debug information is read in a child, whose libdw may end it; what it has not answered has no lines. For fault.py.
$ printf 'double grid[512];\nstatic double sum(int n) { double s = 0; for (int i = 0; i < n; i++) s += grid[i]; return s; }\nint main(void) { for (int k = 0; k < 9; k++) grid[k] = sum(512); return grid[1] > 1; }\n' > sum.c
$ gcc -O1 -g sum.c -o sum && gcc -O1 -g -gsplit-dwarf -o split sum.c
$ "$FAULT_TOOL" run -q --with valgrind --no-analysis --trace sum.rsct ./sum && "$FAULT_TOOL" run -q --with valgrind --no-analysis --trace split.rsct ./split
$ reusescope analyze -q sum.rsct -o sum.data
$ reusescope analyze -q sum.rsct -o sum.data
$ reusescope analyze -q split.rsct -o split.data
$ reusescope analyze -q --model both --line 32,64 sum.rsct -o both.data
$ reusescope sim --l1 32K,8,64 sum.rsct
