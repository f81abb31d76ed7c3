# The front end of loops, feature by feature: what --emit-ir prints of tests/loops/*.c.
$ ln -s "$SOURCE/tests" "$SOURCE/examples" .
$ ir() { reusescope loops "tests/loops/$@" --emit-ir -q; }

# OpenMP constructs, schedules and clauses.
$ ir constructs.c --set n=10
loops 1
array a 8 [16][16]
array b 8 [16][16]
array mine 8 [4]
array for_in_parallel.mine 8 [4] private
array local 8 [2] private
\
nest "parallel_for:10" function parallel_for @"tests/loops/constructs.c":10 {
  parallel threads 8 @10 {
    for i = 0 to 15 share dynamic 4 @10 {
      read b[i][0] @10 "b[i][0]"
      write a[i][0] @10 "a[i][0]"
    }
  }
}
\
nest "for_in_parallel:16" function for_in_parallel @"tests/loops/constructs.c":16 {
  parallel @16 {
    for word = 0 to 3 {
      read mine[word] @16 "mine"
      write for_in_parallel.mine[word] @16 "mine"
    }
    read b[0][0] @17 "b[0][0]"
    write for_in_parallel.mine[0] @17 "mine[0]"
    for i = 0 to 15 share guided nowait @19 {
      read for_in_parallel.mine[0] @19 "mine[0]"
      write a[i][1] @19 "a[i][1]"
    }
    barrier
    for i = 0 to 15 share static collapse 2 @22 {
      for j = 0 to 15 @23 {
        read a[i][j] @23 "a[i][j]"
        write a[i][j] @23 "a[i][j]"
      }
    }
    single nowait @25 {
      write a[0][0] @25 "a[0][0]"
    }
    single nowait @27 {
      write a[0][1] @27 "a[0][1]"
    }
    for i = 0 to 15 share static 1 @29 {
      read a[i][i] @31 "a[i][i]"
      write local[1] @31 "local[1]"
    }
  }
}
\
nest "ignored:38" function ignored @"tests/loops/constructs.c":38 {
  for i = 0 to 15 @38 {
    read a[i][0] @38 "a[i][0]"
  }
}
\
nest "ignored:41" function ignored @"tests/loops/constructs.c":41 {
  parallel @41 {
    for i = 0 to 15 share static @41 {
      read a[0][i] @43 "a[0][i]"
      write a[0][i] @43 "a[0][i]"
      read b[i][i] @45 "b[i][i]"
    }
  }
}
\
nest "conditional:51" function conditional @"tests/loops/constructs.c":51 {
  for i = 0 to 15 @51 {
    write a[i][0] @51 "a[i][0]"
  }
}
\
nest "conditional:53" function conditional @"tests/loops/constructs.c":53 {
  parallel @53 {
    for i = 0 to 15 share static @53 {
      write a[i][1] @53 "a[i][1]"
    }
  }
}
\
nest "orphaned:58" function orphaned @"tests/loops/constructs.c":58 {
  parallel @58 {
    for i = 0 to 15 share static @58 {
      write a[i][2] @58 "a[i][2]"
    }
  }
}

# Sizes from -D and --set.
$ ir constructs.c -D N=8 --function parallel_for
loops 1
array a 8 [8][8]
array b 8 [8][8]
\
nest "parallel_for:10" function parallel_for @"tests/loops/constructs.c":10 {
  parallel threads 8 @10 {
    for i = 0 to 7 share dynamic 2 @10 {
      read b[i][0] @10 "b[i][0]"
      write a[i][0] @10 "a[i][0]"
    }
  }
}
$ ir accesses.c --function shapes --set n=4 --set m=5
loops 1
array table 4 [10][12]
array cloud 20 [10]
array world 976
array flat 8 [120]
array v 8 [4][5]
array p 8 [][5]
array q 8 []
array g 976 []
array "g->halo" 8 []
array rows 8 []
\
nest "shapes:18" function shapes @"tests/loops/accesses.c":18 {
  for i = 0 to 3 @18 {
    for j = 0 to 4 @19 {
      read p[i][j] @20 "p[i][j]"
      read q[5*i + j] @20 "q[i * m + j]"
      read q[i] @20 "*(q + i)"
      write v[i][j] @20 "v[i][j]"
      let q = floor(j / 3) {
        read cloud byte 20*i + 4*j - 12*q + 4 size 4 @21 "cloud[i].at[j % 3]"
        write table[i][j] @21 "table[i][j]"
      }
      read world byte 8*i + 96*j + 8 size 8 @22 "world.cell[j][i]"
      read "g->halo"[j] @22 "g->halo[j]"
      read g byte 96*i + 8*j + 8 size 8 @22 "g->cell[i][j]"
      write g byte 96*i + 8*j + 8 size 8 @22 "g->cell[i][j]"
      read q[i + j] @23 "(&q[i])[j]"
      write flat[12*i + 2*j] @23 "flat[i * 12 + (j << 1)]"
    }
  }
}
\
nest "shapes:25" function shapes @"tests/loops/accesses.c":25 {
  without @25 "the pointer rows[i] is loaded from memory" "rows[i][0]"
  for i = 0 to 3 @25 {
    read rows[i] @25 "rows[i]"
  }
}

# Loop headers and bounds.
$ ir bounds.c
loops 1
array x 4 [200]
array p 4 []
\
nest "headers:15" function headers @"tests/loops/bounds.c":15 {
  for i = 0 to 49 step 3 @15 {
    write x[i] @15 "x[i]"
  }
}
\
nest "headers:16" function headers @"tests/loops/bounds.c":16 {
  for i = 49 to 0 step -1 @16 {
    write x[i] @16 "x[i]"
  }
}
\
nest "headers:17" function headers @"tests/loops/bounds.c":17 {
  for i = 50 to 1 step -1 @17 {
    write x[i - 1] @17 "x[i]"
  }
}
\
nest "headers:18" function headers @"tests/loops/bounds.c":18 {
  for k = 25 to 16 step -2 @18 {
    write x[k] @18 "x[k]"
  }
}
\
nest "headers:19" function headers @"tests/loops/bounds.c":19 {
  for k = 0 to 49 @19 {
    write x[k] @19 "x[k]"
  }
}
\
nest "headers:20" function headers @"tests/loops/bounds.c":20 {
  for k = 0 to 15 @20 {
    write x[k] @20 "x[k]"
  }
}
\
nest "headers:21" function headers @"tests/loops/bounds.c":21 {
  for k = 0 to -1 @21 {
    write x[k] @21 "x[k]"
  }
}
\
nest "headers:22" function headers @"tests/loops/bounds.c":22 {
  for k = 5 to 1 @22 {
    write x[k] @22 "x[k]"
  }
}
\
nest "headers:23" function headers @"tests/loops/bounds.c":23 {
  for k = 49 to 1 step -1 @23 {
    write x[k] @23 "x[k]"
  }
}
\
nest "headers:24" function headers @"tests/loops/bounds.c":24 {
  without @24 "loop left out: compared as unsigned, the variable could be negative" "for (long k = -3; k <= sizeof(x) / sizeof(x[0]) - 190; k++) x[k + 3] = 0"
}
\
nest "nested:28" function nested @"tests/loops/bounds.c":28 {
  for i = 0 to 49 @28 {
    for j = max(0, i - 3) to min(49, i + 3) @29 {
      read x[i] @29 "x[i]"
      write x[j] @29 "x[j]"
    }
  }
}
\
nest "nested:30" function nested @"tests/loops/bounds.c":30 {
  for t = 0 to 6 @30 {
    for i = max(8*t, floor((3*t - 49) / 2)) to min(8*t + 7, floor((5*t + 60) / 2)) @31 {
      write x[i] @31 "x[i]"
    }
  }
}
\
nest "nested:32" function nested @"tests/loops/bounds.c":32 {
  for i = 0 to 49 @32 {
    when i - 11 >= 0 {
      for j = i - 10 to min(i - 1, 39) @33 {
        write x[j] @33 "x[j]"
      }
    }
    when -i + 10 >= 0 {
      for j = 0 to i - 1 @33 {
        write x[j] @33 "x[j]"
      }
    }
  }
}
\
nest "nested:34" function nested @"tests/loops/bounds.c":34 {
  for i = 0 to 49 @34 {
    when i - 20 >= 0 {
      for j = 20 to 29 @35 {
        write x[j] @35 "x[j]"
      }
    }
    when -i + 19 >= 0 {
      for j = i to 29 @35 {
        write x[j] @35 "x[j]"
      }
    }
  }
}
\
nest "nested:36" function nested @"tests/loops/bounds.c":36 {
  for i = 0 to 49 @36 {
    for i2 = i to 49 @37 {
      for max_2 = -i + i2 to 1 @38 {
        write x[max_2] @38 "x[max]"
      }
    }
  }
}
\
nest "companions:43" function companions @"tests/loops/bounds.c":43 {
  for i = 0 to 9 @43 {
    read x[i] @43 "x[i]"
    write x[-2*i + 50] @43 "x[j]"
  }
}
\
nest "companions:44" function companions @"tests/loops/bounds.c":44 {
  for i = 2 to 9 step 2 @44 {
    write x[3*i + 1] @44 "x[w]"
  }
}
\
nest "companions:45" function companions @"tests/loops/bounds.c":45 {
  for i = 0 to 9 @45 {
    read x[i] @45 "x[i]"
    write p[3*i] @45 "*p"
  }
}
\
nest "companions:46" function companions @"tests/loops/bounds.c":46 {
  for i = 0 to 9 step 2 @46 {
    let q = floor(i / 2) {
      write x[q] @46 "x[j]"
    }
  }
}
\
nest "companions:47" function companions @"tests/loops/bounds.c":47 {
  for i = 0 to 4 @47 {
    write x[i] @47 "x[i]"
  }
}

# Shapes, pointers, structures, scalars that are followed.
$ ir accesses.c --set n=10 --set m=12
loops 1
array table 4 [10][12]
array cloud 20 [10]
array world 976
array flat 8 [120]
array v 8 [10][12]
array p 8 [][12]
array q 8 []
array g 976 []
array "g->halo" 8 []
array rows 8 []
array a 8 []
array wave 8 [2][10]
array sized.g 976 []
\
nest "shapes:18" function shapes @"tests/loops/accesses.c":18 {
  for i = 0 to 9 @18 {
    for j = 0 to 11 @19 {
      read p[i][j] @20 "p[i][j]"
      read q[12*i + j] @20 "q[i * m + j]"
      read q[i] @20 "*(q + i)"
      write v[i][j] @20 "v[i][j]"
      let q = floor(j / 3) {
        read cloud byte 20*i + 4*j - 12*q + 4 size 4 @21 "cloud[i].at[j % 3]"
        write table[i][j] @21 "table[i][j]"
      }
      read world byte 8*i + 96*j + 8 size 8 @22 "world.cell[j][i]"
      read "g->halo"[j] @22 "g->halo[j]"
      read g byte 96*i + 8*j + 8 size 8 @22 "g->cell[i][j]"
      write g byte 96*i + 8*j + 8 size 8 @22 "g->cell[i][j]"
      read q[i + j] @23 "(&q[i])[j]"
      write flat[12*i + 2*j] @23 "flat[i * 12 + (j << 1)]"
    }
  }
}
\
nest "shapes:25" function shapes @"tests/loops/accesses.c":25 {
  without @25 "the pointer rows[i] is loaded from memory" "rows[i][0]"
  for i = 0 to 9 @25 {
    read rows[i] @25 "rows[i]"
  }
}
\
nest "followed:29" function followed @"tests/loops/accesses.c":29 {
  for i = 0 to 9 @29 {
    read a[3*i + 1] @34 "a[j]"
    write flat[12*i + 3] @34 "line[3]"
    read a[i + 1] @35 "a[j - d]"
    write flat[12*i + 5] @35 "two[i][5]"
    when i - 5 >= 0 {
      read a[4] @37 "a[j]"
      write a[4] @37 "a[j]"
      let q = floor(i / 2) {
        let q_2 = floor(i / 4) {
          read a[q] @39 "a[half]"
          read a[i - 4*q_2] @39 "a[rest]"
          read a[q_2] @39 "a[q]"
          write a[i - 2*q] @39 "a[odd]"
        }
      }
    }
    when -i + 4 >= 0 {
      read a[3*i + 1] @37 "a[j]"
      write a[3*i + 1] @37 "a[j]"
      let q = floor(i / 2) {
        let q_2 = floor(i / 4) {
          read a[q] @39 "a[half]"
          read a[i - 4*q_2] @39 "a[rest]"
          read a[q_2] @39 "a[q]"
          write a[i - 2*q] @39 "a[odd]"
        }
      }
    }
  }
}
\
nest "layered:45" function layered @"tests/loops/accesses.c":45 {
  for s = 0 to 5 @45 {
    for i = 1 to 8 @46 {
      let q = floor(s / 2) {
        let q_2 = floor((s + 1) / 2) {
          read wave[s - 2*q][i - 1] @46 "wave[s % 2][i - 1]"
          read wave[s - 2*q][i + 1] @46 "wave[s % 2][i + 1]"
          write wave[s - 2*q_2 + 1][i] @46 "wave[(s + 1) % 2][i]"
        }
      }
    }
  }
}
\
nest "sized:50" function sized @"tests/loops/accesses.c":50 {
  without @50 "loop left out: bound is not affine: g->size is loaded from memory (--set 'g->size=NUMBER' gives it)" "for (int i = 0; i < g->size; i++) g->halo[i] = world.size"
  read sized.g[0] size 4 @50 "g->size"
}

# A size in a structure.
$ ir accesses.c --function sized --set 'g->size=5'
loops 1
array "g->halo" 8 []
\
nest "sized:50" function sized @"tests/loops/accesses.c":50 {
  for i = 0 to 4 @50 {
    write "g->halo"[i] @50 "g->halo[i]"
  }
}

# Functions.
$ ir calls.c
loops 1
array a 8 [8][8]
array b 8 [8]
\
nest "rows:24" function rows @"tests/loops/calls.c":24 {
  parallel @24 {
    for i = 0 to 7 share static @24 {
      when -i + 5 >= 0 and i - 2 >= 0 {
        for k = 0 to min(i - 1, 4) @14 {
          read a[i][k] @14 "x[k]"
          write a[i][k] @14 "x[k]"
        }
      }
      when i - 6 >= 0 {
        for k = 0 to min(i - 1, 4) @14 {
          read a[i][k] @14 "x[k]"
          write a[i][k] @14 "x[k]"
        }
      }
      for k = 0 to 7 @9 {
        read a[i][k] @9 "x[k]"
        read a[0][k] @9 "y[k]"
      }
      write b[i] @26 "b[i]"
    }
  }
}
\
nest "wrapped:31" function wrapped @"tests/loops/calls.c":31 {
  for i = 0 to 7 @31 {
    when -i >= 0 {
      read a[1][i - 1] @31 "a[0][wrap(i - 1)]"
      read a[0][i + 1] @31 "a[0][wrap(i + 1)]"
      write b[i] @31 "b[i]"
    }
    when i - 1 >= 0 and i - 7 >= 0 {
      read a[0][i - 1] @31 "a[0][wrap(i - 1)]"
      read a[-1][i + 1] @31 "a[0][wrap(i + 1)]"
      write b[i] @31 "b[i]"
    }
    when i - 1 >= 0 and -i + 6 >= 0 {
      read a[0][i - 1] @31 "a[0][wrap(i - 1)]"
      read a[0][i + 1] @31 "a[0][wrap(i + 1)]"
      write b[i] @31 "b[i]"
    }
  }
}

# Conditions.
$ ir guards.c
loops 1
array a 8 [20][20]
array b 8 [20]
\
nest "guards:6" function guards @"tests/loops/guards.c":6 {
  for i = 0 to 19 @6 {
    for j = 0 to 19 @7 {
      when i - j == 0 {
        write a[i][j] @8 "a[i][j]"
      }
      when i - j != 0 {
        write a[i][j] @9 "a[i][j]"
      }
      when i - 3 >= 0 and -j + 4 >= 0 {
        write b[i] @10 "b[i]"
      }
      when i - 3 >= 0 and j - 5 >= 0 and j - 15 >= 0 {
        write b[i] @10 "b[i]"
      }
      when (i - 1) % 3 != 0 and i - 4 != 0 {
        write b[j] @11 "b[j]"
      }
      write b[0] @12 "b[0]"
    }
  }
}
\
nest "guards:15" function guards @"tests/loops/guards.c":15 {
  for i = 0 to 19 @15 {
    when i - 7 != 0 {
      let q = floor(i / 2) {
        when i - 2*q == 0 {
          write b[i] @21 "b[i]"
        }
      }
      let q = floor(i / 2) {
        when i - 2*q != 0 {
          when i - 11 >= 0 {
            read a[i][0] @18 "a[i][0]"
            write b[i] @18 "b[i]"
          }
          when -i + 10 >= 0 {
            read a[0][i] @18 "a[0][i]"
            write b[i] @18 "b[i]"
          }
        }
      }
    }
  }
}
\
nest "guards:25" function guards @"tests/loops/guards.c":25 {
  assume @26 "assumed to hold in 50 % of iterations: b[i] is loaded from memory" "b[i] > most"
  for i = 0 to 19 @25 {
    read b[i] @26 "b[i]"
    when (i + 1) % 2 == 0 {
      read b[i] @27 "b[i]"
    }
  }
}

# Static functions whose callers agree; what may change behind the source's back.
$ ir callers.c
loops 1
array a 8 [12][12]
\
nest "fill:8" function fill @"tests/loops/callers.c":8 {
  parallel @8 {
    for i = 0 to 11 share static 2 @8 {
      for j = 0 to 5 @9 {
        write a[i][j] @9 "a[i][j]"
      }
    }
  }
}
\
nest "fill:10" function fill @"tests/loops/callers.c":10 {
  without @10 "loop left out: bound is not affine: level is not known (--set level=NUMBER gives it)" "for (int k = 0; k < level; k++) a[k][0] = 0"
}
\
nest "taken:14" function taken @"tests/loops/callers.c":14 {
  without @14 "loop left out: bound is not affine: n is not known (--set n=NUMBER gives it)" "for (int i = 0; i < n; i++) a[i][1] = 0"
}
\
nest "global:18" function global @"tests/loops/callers.c":18 {
  without @18 "loop left out: bound is not affine: n is not known (--set n=NUMBER gives it)" "for (int i = 0; i < n; i++) a[i][2] = 0"
}
$ ir trust.c
loops 1
array a 8 [64]
array pair.second 8 []
array pair.first 8 []
array x 8 []
array y 8 []
\
nest "global_and_call:9" function global_and_call @"tests/loops/trust.c":9 {
  for i = 0 to 7 @9 {
    write a[i] @9 "a[i]"
  }
}
\
nest "global_and_call:11" function global_and_call @"tests/loops/trust.c":11 {
  without @11 "loop left out: bound is not affine: size may change in a call" "for (int i = 0; i < size; i++) a[i] = 0"
}
\
nest "by_address:17" function by_address @"tests/loops/trust.c":17 {
  without @17 "loop left out: bound is not affine: n may change through its address (--set n=NUMBER gives it)" "for (int i = 0; i < n; i++) a[i] = 0"
}
\
nest "by_address:18" function by_address @"tests/loops/trust.c":18 {
  for i = 0 to 7 @18 {
    write a[i] @18 "a[i]"
  }
}
\
nest "by_pointer:24" function by_pointer @"tests/loops/trust.c":24 {
  without @24 "loop left out: bound is not affine: n may change through its address (--set n=NUMBER gives it)" "for (int i = 0; i < n; i++) a[i] = 0"
}
\
nest "in_the_loop:29" function in_the_loop @"tests/loops/trust.c":29 {
  without @30 "subscript n is not affine: n changes in the loop at line 31" "a[n]"
  for i = 0 to 7 @29 {
    write a[i] @32 "a[n]"
  }
}
\
nest "in_the_loop:34" function in_the_loop @"tests/loops/trust.c":34 {
  without @35 "loop left out: bound is not affine: size is not known (--set size=NUMBER gives it)" "for (int j = 0; j < size; j++) a[j] = 0"
}
\
nest "behind:41" function behind @"tests/loops/trust.c":41 {
  without @41 "loop left out: bound is not affine: n depends on a condition at line 40" "for (i = 0; i < n; i++) a[i] = 0"
}
\
nest "behind:42" function behind @"tests/loops/trust.c":42 {
  without @42 "loop left out: bound is not affine: i changes in a loop that is not affine at line 41" "for (int j = 0; j < i; j++) a[j] = 0"
}
\
nest "behind:44" function behind @"tests/loops/trust.c":44 {
  without @44 "a while loop whose trip count is not known: the condition's variable is not started and moved by the loop; only for loops inside it are analysed" "while (flag) { for (int j = 0; j < n; j++) a[j] = 0; n++; }"
}
\
nest "behind:45" function behind @"tests/loops/trust.c":45 {
  without @45 "loop left out: bound is not affine: n changes in a loop at line 46" "for (int j = 0; j < n; j++) a[j] = 0"
}
\
nest "through_a_call:54" function through_a_call @"tests/loops/trust.c":54 {
  for i = 0 to 7 @54 {
    write a[i] @55 "a[size]"
  }
}
\
nest "narrow:61" function narrow @"tests/loops/trust.c":61 {
  without @63 "subscript c is not affine: it may be too large for its type" "a[c]"
}
\
nest "narrow:65" function narrow @"tests/loops/trust.c":65 {
  without @67 "subscript u is not affine: it may be negative in an unsigned type" "a[u]"
}
\
nest "narrow:69" function narrow @"tests/loops/trust.c":69 {
  without @69 "subscript (i - 3) / 2 is not affine: an unsigned number could be negative" "a[(i - 3) / 2]"
}
\
nest "narrow:70" function narrow @"tests/loops/trust.c":70 {
  without @71 "whether this runs is not affine: an unsigned number could be negative" "if (i - 3 < 2) a[i] = 0"
}
\
nest "narrow:72" function narrow @"tests/loops/trust.c":72 {
  without @72 "subscript (int)(float)i is not affine: floating-point numbers do not hold it exactly" "a[(int)(float)i]"
}
\
nest "narrow:73" function narrow @"tests/loops/trust.c":73 {
  without @74 "subscript i * 100000 + j is not affine: it may be too large for its type" "a[i * 100000 + j]"
}
\
nest "swapped:80" function swapped @"tests/loops/trust.c":80 {
  for i = 0 to 7 @80 {
    read pair.second[i] @80 "pair.second[i]"
    write pair.first[i] @80 "pair.first[i]"
  }
}
\
nest "swapped:84" function swapped @"tests/loops/trust.c":84 {
  without @84 "the pointer pair.second is loaded from memory" "pair.second[i]"
  without @84 "the pointer pair.first is loaded from memory" "pair.first[i]"
}
\
nest "made:92" function made @"tests/loops/trust.c":92 {
  for i = 0 to 7 @92 {
    read y[i] @92 "y[i]"
    write x[i] @92 "x[i]"
  }
}
\
nest "made:94" function made @"tests/loops/trust.c":94 {
  for i = 0 to 7 @94 {
    read x[i + 2] @94 "y[i]"
    write x[i] @94 "x[i]"
  }
}

# Conditions that depend on data, with how often they are assumed to hold.
$ ir data.c
loops 1
array a 8 [64][64]
array b 8 [64][64]
array mask 8 [64]
\
nest "data:6" function data @"tests/loops/data.c":6 {
  assume @8 "assumed to hold in 50 % of iterations: a[i][j] is loaded from memory" "a[i][j] > limit"
  for i = 0 to 63 @6 {
    for j = 0 to 63 @7 {
      read a[i][j] @8 "a[i][j]"
      when (7*i + j) % 2 == 0 {
        read a[i][j] @8 "a[i][j]"
        write b[j][i] @8 "b[j][i]"
      }
    }
  }
}
\
nest "data:9" function data @"tests/loops/data.c":9 {
  assume @10 "assumed to hold in 50 % of iterations: mask[i] is loaded from memory" "mask[i] != 0"
  assume @11 "assumed to hold in 50 % of iterations: a[i][j] is loaded from memory" "a[i][j] > 0"
  assume @12 "assumed to hold in 50 % of iterations: mask[i] is loaded from memory" "mask[i] == 1"
  for i = 0 to 63 @9 {
    read mask[i] @10 "mask[i]"
    when i % 2 == 0 {
      for j = 0 to 63 step 2 @11 {
        read a[i][j] @11 "a[i][j]"
        let q = floor(j / 2) {
          when (7*i + q + 1) % 2 == 0 {
            read a[j][i] @11 "a[j][i]"
            read b[i][j] @11 "b[i][j]"
            write b[i][j] @11 "b[i][j]"
          }
        }
        let q = floor(j / 2) {
          when (7*i + q + 1) % 2 != 0 {
            read b[i][j] @11 "b[i][j]"
            write b[i][j] @11 "b[i][j]"
          }
        }
      }
    }
    read mask[i] @12 "mask[i]"
    when (i + 1) % 2 != 0 {
      write b[i][0] @13 "b[i][0]"
    }
  }
}
\
nest "data:16" function data @"tests/loops/data.c":16 {
  assume @16 "assumed to hold in 50 % of iterations: mask[i] is loaded from memory" "mask[i] > most"
  for i = 0 to 63 @16 {
    read mask[i] @16 "mask[i]"
    when (i + 1) % 2 == 0 {
      read mask[i] @16 "mask[i]"
    }
  }
}
\
nest "data:17" function data @"tests/loops/data.c":17 {
  assume @18 "assumed to hold in 50 % of iterations: most depends on a condition" "most > limit"
  for i = 0 to 63 step 2 @17 {
    let q = floor(i / 2) {
      when (q + 1) % 2 == 0 {
        write mask[i] @18 "mask[i]"
      }
    }
  }
}
\
nest "data:19" function data @"tests/loops/data.c":19 {
  for i = 0 to 63 @19 {
    read mask[i] @20 "mask[i]"
  }
}

$ ir data.c --taken 30 --taken 7=90 | grep -v read
loops 1
array a 8 [64][64]
array b 8 [64][64]
array mask 8 [64]
\
nest "data:6" function data @"tests/loops/data.c":6 {
  assume @8 "assumed to hold in 30 % of iterations: a[i][j] is loaded from memory" "a[i][j] > limit"
  for i = 0 to 63 @6 {
    for j = 0 to 63 @7 {
      when (7*i + j) % 4 == 0 {
        write b[j][i] @8 "b[j][i]"
      }
      when (7*i + j) % 4 != 0 and (7*i + j + 1) % 15 == 0 {
        write b[j][i] @8 "b[j][i]"
      }
    }
  }
}
\
nest "data:9" function data @"tests/loops/data.c":9 {
  assume @10 "assumed to hold in 30 % of iterations: mask[i] is loaded from memory" "mask[i] != 0"
  assume @11 "assumed to hold in 30 % of iterations: a[i][j] is loaded from memory" "a[i][j] > 0"
  assume @12 "assumed to hold in 30 % of iterations: mask[i] is loaded from memory" "mask[i] == 1"
  for i = 0 to 63 @9 {
    when (i + 2) % 4 == 0 {
      for j = 0 to 63 step 2 @11 {
        let q = floor(j / 2) {
          when (7*i + q + 3) % 4 == 0 {
            write b[i][j] @11 "b[i][j]"
          }
        }
        let q = floor(j / 2) {
          when (7*i + q + 3) % 4 != 0 and (7*i + j + 12) % 15 == 0 {
            write b[i][j] @11 "b[i][j]"
          }
        }
        let q = floor(j / 2) {
          when (7*i + q + 3) % 4 != 0 and (7*i + j + 12) % 15 != 0 {
            write b[i][j] @11 "b[i][j]"
          }
        }
      }
    }
    when (i + 2) % 4 != 0 and i % 15 == 0 {
      for j = 0 to 63 step 2 @11 {
        let q = floor(j / 2) {
          when (7*i + q + 3) % 4 == 0 {
            write b[i][j] @11 "b[i][j]"
          }
        }
        let q = floor(j / 2) {
          when (7*i + q + 3) % 4 != 0 and (7*i + j + 12) % 15 == 0 {
            write b[i][j] @11 "b[i][j]"
          }
        }
        let q = floor(j / 2) {
          when (7*i + q + 3) % 4 != 0 and (7*i + j + 12) % 15 != 0 {
            write b[i][j] @11 "b[i][j]"
          }
        }
      }
    }
    when (i + 1) % 4 != 0 and (i + 2) % 15 != 0 {
      write b[i][0] @13 "b[i][0]"
    }
  }
}
\
nest "data:16" function data @"tests/loops/data.c":16 {
  assume @16 "assumed to hold in 30 % of iterations: mask[i] is loaded from memory" "mask[i] > most"
  for i = 0 to 63 @16 {
    when (i + 1) % 4 == 0 {
    }
    when (i + 1) % 4 != 0 and (i + 11) % 15 == 0 {
    }
  }
}
\
nest "data:17" function data @"tests/loops/data.c":17 {
  assume @18 "assumed to hold in 30 % of iterations: most depends on a condition" "most > limit"
  for i = 0 to 63 step 2 @17 {
    let q = floor(i / 2) {
      when (q + 3) % 4 == 0 {
        write mask[i] @18 "mask[i]"
      }
    }
    let q = floor(i / 2) {
      when (q + 3) % 4 != 0 and (i + 10) % 15 == 0 {
        write mask[i] @18 "mask[i]"
      }
    }
  }
}
\
nest "data:19" function data @"tests/loops/data.c":19 {
  for i = 0 to 63 @19 {
  }
}

$ ir data.c --taken 0 --taken 16=100 | grep -v read
loops 1
array a 8 [64][64]
array b 8 [64][64]
array mask 8 [64]
\
nest "data:6" function data @"tests/loops/data.c":6 {
  assume @8 "assumed to hold in 0 % of iterations: a[i][j] is loaded from memory" "a[i][j] > limit"
  for i = 0 to 63 @6 {
    for j = 0 to 63 @7 {
    }
  }
}
\
nest "data:9" function data @"tests/loops/data.c":9 {
  assume @10 "assumed to hold in 0 % of iterations: mask[i] is loaded from memory" "mask[i] != 0"
  assume @12 "assumed to hold in 0 % of iterations: mask[i] is loaded from memory" "mask[i] == 1"
  for i = 0 to 63 @9 {
    write b[i][0] @13 "b[i][0]"
  }
}
\
nest "data:16" function data @"tests/loops/data.c":16 {
  assume @16 "assumed to hold in 100 % of iterations: mask[i] is loaded from memory" "mask[i] > most"
  for i = 0 to 63 @16 {
  }
}
\
nest "data:17" function data @"tests/loops/data.c":17 {
  assume @18 "assumed to hold in 0 % of iterations: most is not an integer" "most > limit"
}
\
nest "data:19" function data @"tests/loops/data.c":19 {
  for i = 0 to 63 @19 {
  }
}

# As many references as the share says, and nearly the misses of random data (where a line may also come back sooner).
$ reusescope loops tests/loops/data.c -D N=64 --loop 6 --taken 25 -t 1 -q --format json -o - --at 4K > share.json
$ /usr/bin/python3 -c 'import json; r = json.load(open("share.json"))["loops"][0]; print([(m["text"], m["kind"], m["references"]) for m in r["threads"][0]["references"]], r["assumptions"][0]["line"])'
[('a[i][j]', 'read', 4096), ('a[i][j]', 'read', 1024), ('b[j][i]', 'write', 1024)] 8

$ /usr/bin/python3 -c 'import random; random.seed(5); [print("0 %x" % (8 * (64 * i + j))) or (random.random() < 0.25 and print("0 %x\n1 %x" % (8 * (64 * i + j), 32768 + 8 * (64 * j + i)))) for i in range(64) for j in range(64)]' > random.din
$ reusescope analyze random.din -q --format json -o random.json
$ /usr/bin/python3 -c 'import json; at = lambda points, lines: [p["miss_ratio"] for p in points if p["lines"] <= lines][-1]; mine = json.load(open("share.json"))["loops"][0]["threads"][0]["mrc"]; run = json.load(open("random.json"))["mrc"]; print(max(abs(at(mine, n) - at(run, n)) for n in (1, 4, 16, 64, 256, 1024)) < 0.08)'
True
$ ir data.c --taken 101
reusescope loops: --taken 101: not PERCENT or LINE=PERCENT, from 0 to 100
[2]

# Copies, sections, loop, ordered, thread numbers and reductions over arrays.
$ ir real.c
loops 1
array a 8 [32][32]
array b 8 [32][32]
array sums 8 [32]
array histogram.sums 8 [32] private
\
nest "copies:9" function copies @"tests/loops/real.c":9 {
  for i = 0 to 31 @9 {
    for word = 0 to 31 {
      write a[i][word] @10 "memset(a[i], 0, sizeof a[i])"
    }
    for word = 0 to -i + 31 {
      read a[i][i + word] @11 "memcpy(&b[i][i], &a[i][i], (32 - i) * sizeof(double))"
      write b[i][i + word] @11 "memcpy(&b[i][i], &a[i][i], (32 - i) * sizeof(double))"
    }
    let word = 0 {
      read b byte 256*i + 4*word size 4 @12 "memmove(b[i] + 1, b[i], 4)"
      write b byte 256*i + 4*word + 8 size 4 @12 "memmove(b[i] + 1, b[i], 4)"
    }
  }
}
\
nest "constructs:18" function constructs @"tests/loops/real.c":18 {
  parallel @18 {
    for section = 0 to 1 share dynamic 1 nowait @20 {
      when section == 0 {
        for i = 0 to 31 @22 {
          write a[0][i] @22 "a[0][i]"
        }
      }
      when section - 1 == 0 {
        for i = 0 to 31 @25 {
          read a[1][i] @25 "a[1][i]"
          write b[0][i] @25 "b[0][i]"
        }
      }
    }
    for i = 0 to 31 share static @29 {
      write sums[i] @29 "sums[i]"
    }
  }
}
\
nest "constructs:32" function constructs @"tests/loops/real.c":32 {
  parallel threads 2 @32 {
    for section = 0 to 1 share dynamic 1 @32 {
      when section == 0 {
        write sums[0] @33 "sums[0]"
      }
      when section - 1 == 0 {
        write sums[1] @35 "sums[1]"
      }
    }
  }
}
\
nest "constructs:38" function constructs @"tests/loops/real.c":38 {
  assume @38 "ordered: iterations are assumed not to wait for each other" "for (int i = 0; i < 32; i++) { a[i][0] = 1; sums[0] += a[i][0]; }"
  parallel @38 {
    for i = 0 to 31 share static @38 {
      write a[i][0] @39 "a[i][0]"
      read a[i][0] @41 "a[i][0]"
      read sums[0] @41 "sums[0]"
      write sums[0] @41 "sums[0]"
    }
  }
}
\
nest "by_number:47" function by_number @"tests/loops/real.c":47 {
  parallel threads 4 @47 {
    for thread = 0 to 3 share static 1 @47 {
      for i = 8*thread to 8*thread + 7 @49 {
        write sums[i] @49 "sums[i]"
      }
    }
  }
}
\
nest "histogram:55" function histogram @"tests/loops/real.c":55 {
  parallel @55 {
    for word = 0 to 31 {
      write histogram.sums[word] @55 "sums[0 : 32]"
    }
    for i = 0 to 31 share static nowait @55 {
      for j = 0 to 31 @56 {
        read a[i][j] @56 "a[i][j]"
        read histogram.sums[j] @56 "sums[j]"
        write histogram.sums[j] @56 "sums[j]"
      }
    }
    for word = 0 to 31 {
      read histogram.sums[word] @55 "sums[0 : 32]"
      read sums[word] @55 "sums[0 : 32]"
      write sums[word] @55 "sums[0 : 32]"
    }
  }
}
\
nest "histogram:58" function histogram @"tests/loops/real.c":58 {
  parallel @58 {
    for word = 0 to 2 {
      write histogram.sums[word + 2] @60 "sums[2 : 3]"
    }
    for i = 0 to 31 share static nowait @60 {
      read b[i][0] @60 "b[i][0]"
      read histogram.sums[2] @60 "sums[2]"
      write histogram.sums[2] @60 "sums[2]"
    }
    for word = 0 to 2 {
      read histogram.sums[word + 2] @60 "sums[2 : 3]"
      read sums[word + 2] @60 "sums[2 : 3]"
      write sums[word + 2] @60 "sums[2 : 3]"
    }
    barrier
    write b[1][1] @61 "b[1][1]"
  }
}

# What is not affine.
$ ir gaps.c --set n=10
loops 1
array a 8 [10][10]
array b 8 [10]
array index_of 4 [10]
array p 8 []
array rows 8 []
array start 8 [3]
\
nest "gaps:10" function gaps @"tests/loops/gaps.c":10 {
  without @10 "subscript index_of[i] is not affine: index_of[i] is loaded from memory" "b[index_of[i]]"
  for i = 0 to 9 @10 {
    read index_of[i] @10 "index_of[i]"
  }
}
\
nest "gaps:11" function gaps @"tests/loops/gaps.c":11 {
  without @11 "loop left out: bound is not affine: unknown is not known (--set unknown=NUMBER gives it)" "for (int i = 0; i < unknown; i++) b[i] = 0"
}
\
nest "gaps:12" function gaps @"tests/loops/gaps.c":12 {
  without @13 "loop left out: bound is not affine: a product of two variables is not affine" "for (int j = 0; j < i * i; j++) b[j] = 0"
}
\
nest "gaps:14" function gaps @"tests/loops/gaps.c":14 {
  without @15 "subscript i * j is not affine: a product of two variables is not affine" "b[i * j]"
}
\
nest "gaps:16" function gaps @"tests/loops/gaps.c":16 {
  assume @17 "assumed to hold in 50 % of iterations: b[i] is loaded from memory" "b[i] > 0"
  for i = 0 to 9 @16 {
    read b[i] @17 "b[i]"
    when i % 2 == 0 {
      write a[i][0] @17 "a[i][0]"
    }
  }
}
\
nest "gaps:18" function gaps @"tests/loops/gaps.c":18 {
  without @18 "a call of printf, whose body is not in the source" "printf(\"%g\\n\", b[i])"
  for i = 0 to 9 @18 {
    read b[i] @18 "b[i]"
  }
}
\
nest "gaps:19" function gaps @"tests/loops/gaps.c":19 {
  without @19 "loop left out: break, goto or return ends the loop early" "for (int i = 0; i < 10; i++) { while (b[i] > 1) b[i] /= 2; if (b[i] > 3) bre..."
}
\
nest "gaps:23" function gaps @"tests/loops/gaps.c":23 {
  without @23 "loop left out: the step is not an addition" "for (int i = 1; i < 10; i *= 2) b[i] = 0"
}
\
nest "gaps:24" function gaps @"tests/loops/gaps.c":24 {
  without @24 "loop left out: compared as unsigned, the variable could be negative" "for (unsigned i = 10 - 1; i >= 0; i--) b[i] = 0"
}
\
nest "gaps:25" function gaps @"tests/loops/gaps.c":25 {
  without @25 "loop left out: the step leads away from the bound" "for (int i = 0; i < 10; i--) b[i] = 0"
}
\
nest "gaps:26" function gaps @"tests/loops/gaps.c":26 {
  without @26 "the pointer rows[i] is loaded from memory" "rows[i][0]"
  for i = 0 to 9 @26 {
    read rows[i] @26 "rows[i]"
  }
}
\
nest "gaps:28" function gaps @"tests/loops/gaps.c":28 {
  for i = 0 to 9 @28 {
    write b[i] @28 "b[k++]"
  }
}
\
nest "gaps:29" function gaps @"tests/loops/gaps.c":29 {
  for q = 0 to 9 @29 {
    write p[q] @29 "*q"
  }
}
\
nest "gaps:30" function gaps @"tests/loops/gaps.c":30 {
  without @30 "loop left out: i is changed in the loop" "for (int i = 0; i < 10; i++) { b[i] = 0; i++; }"
}
\
nest "gaps:34" function gaps @"tests/loops/gaps.c":34 {
  without @34 "a switch" "switch (i) { case 1: b[i] = 0; }"
}
\
nest "gaps:35" function gaps @"tests/loops/gaps.c":35 {
  for i = 0 to 9 @35 {
    write b[i] @35 "b[j]"
  }
}
\
nest "gaps:36" function gaps @"tests/loops/gaps.c":36 {
  without @36 "loop left out: the loop's variable could pass the end of its type" "for (unsigned char i = 0; i < 250 + 10; i++) b[i % 10] = 0"
}
\
nest "gaps:38" function gaps @"tests/loops/gaps.c":38 {
  without @38 "loop left out: schedule(runtime) is not in the source (--schedule gives one)" "for (int i = 0; i < 10; i++) b[i] = 0"
}
\
nest "gaps:40" function gaps @"tests/loops/gaps.c":40 {
  parallel @40 {
    for i = 0 to 9 share static 10 @40 {
      write b[i] @40 "b[i]"
    }
  }
}
\
nest "gaps:42" function gaps @"tests/loops/gaps.c":42 {
  without @46 "#pragma omp task is not supported" "b[1] = 1"
  parallel @42 {
    for section = 0 to 0 share dynamic 1 @44 {
      when section == 0 {
        write b[0] @44 "b[0]"
      }
    }
  }
}
\
nest "gaps:49" function gaps @"tests/loops/gaps.c":49 {
  assume @49 "ordered: iterations are assumed not to wait for each other" "for (int i = 0; i < 10; i++) b[i] = 0"
  parallel @49 {
    for i = 0 to 9 share static @49 {
      write b[i] @49 "b[i]"
    }
  }
}
\
nest "gaps:51" function gaps @"tests/loops/gaps.c":51 {
  without @52 "the initial values of start" "double start[3] = {[1] = 2}"
  for i = 0 to 9 @51 {
    read start[0] @53 "start[0]"
    write b[i] @53 "b[i]"
  }
}
\
nest "gaps:55" function gaps @"tests/loops/gaps.c":55 {
  without @55 "subscript i / unknown is not affine: unknown is not known (--set unknown=NUMBER gives it)" "b[i / unknown]"
}

# A schedule from the command line stands for schedule(runtime); a number for an unknown variable.
$ ir gaps.c --set n=10 --set unknown=5 --schedule static --function gaps | grep -c without
14
$ reusescope loops tests/loops/gaps.c --function gaps --emit-ir | grep 'schedule\|chunk'
  without @38 "loop left out: schedule(runtime) is not in the source (--schedule gives one)" "for (int i = 0; i < 10; i++) b[i] = 0"
  without @40 "loop left out: the schedule's chunk is not a positive number:  n" "for (int i = 0; i < 10; i++) b[i] = 0"

# Scalars in memory, loops together, bases.
$ ir calls.c --function rows --count-scalars
loops 1
array a 8 [8][8]
array b 8 [8]
array sum 8 private
\
nest "rows:24" function rows @"tests/loops/calls.c":24 {
  parallel @24 {
    for i = 0 to 7 share static @24 {
      when -i + 5 >= 0 and i - 2 >= 0 {
        for k = 0 to min(i - 1, 4) @14 {
          read a[i][k] @14 "x[k]"
          write a[i][k] @14 "x[k]"
        }
      }
      when i - 6 >= 0 {
        for k = 0 to min(i - 1, 4) @14 {
          read a[i][k] @14 "x[k]"
          write a[i][k] @14 "x[k]"
        }
      }
      write sum @8 "sum"
      for k = 0 to 7 @9 {
        read a[i][k] @9 "x[k]"
        read a[0][k] @9 "y[k]"
        read sum @9 "sum"
        write sum @9 "sum"
      }
      read sum @10 "sum"
      write b[i] @26 "b[i]"
    }
  }
}
$ ir bounds.c --function nested --together | head -12
loops 1
array x 4 [200]
\
nest "nested:28" function nested @"tests/loops/bounds.c":28 {
  for i = 0 to 49 @28 {
    for j = max(0, i - 3) to min(49, i + 3) @29 {
      read x[i] @29 "x[i]"
      write x[j] @29 "x[j]"
    }
  }
  for t = 0 to 6 @30 {
    for i = max(8*t, floor((3*t - 49) / 2)) to min(8*t + 7, floor((5*t + 60) / 2)) @31 {
$ ir calls.c --function wrapped --base b=0x1000
loops 1
array a 8 [8][8]
array b 8 [8] base 0x1000
\
nest "wrapped:31" function wrapped @"tests/loops/calls.c":31 {
  for i = 0 to 7 @31 {
    when -i >= 0 {
      read a[1][i - 1] @31 "a[0][wrap(i - 1)]"
      read a[0][i + 1] @31 "a[0][wrap(i + 1)]"
      write b[i] @31 "b[i]"
    }
    when i - 1 >= 0 and i - 7 >= 0 {
      read a[0][i - 1] @31 "a[0][wrap(i - 1)]"
      read a[-1][i + 1] @31 "a[0][wrap(i + 1)]"
      write b[i] @31 "b[i]"
    }
    when i - 1 >= 0 and -i + 6 >= 0 {
      read a[0][i - 1] @31 "a[0][wrap(i - 1)]"
      read a[0][i + 1] @31 "a[0][wrap(i + 1)]"
      write b[i] @31 "b[i]"
    }
  }
}

# What was written is read again, and written the same.
$ for file in constructs bounds accesses calls guards gaps; do reusescope loops tests/loops/$file.c --set n=10 --set m=12 --emit-ir -q > one.loop; reusescope loops one.loop --emit-ir > two.loop; cmp one.loop two.loop; done
$ for file in examples/loops/*.loop; do reusescope loops $file --emit-ir | reusescope loops - --emit-ir > /dev/null || echo $file; done
$ reusescope loops examples/loops/gemm_rayon.loop --set N=16 --emit-ir
loops 1
array a 8 [16][16]
array b 8 [16][16]
array c 8 [16][16]
\
nest gemm_rayon {
  parallel {
    for i = 0 to 15 share static {
      for k = 0 to 15 {
        for j = 0 to 15 {
          read a[i][k]
          read b[k][j]
          read c[i][j]
          write c[i][j]
        }
      }
    }
  }
}
$ reusescope loops examples/loops/tiles.loop --emit-ir
loops 1
array grid 8 [2][100][100]
array point 24 []
array sum 8 private
array "table of pairs" 4 [100] base 0x100000
\
nest tiles {
  parallel threads 8 @3 {
    single @4 {
      write "table of pairs"[0] @4 "pairs[0]"
    }
    for ti = 0 to 3 share guided 2 collapse 2 nowait @5 {
      for tj = 0 to 3 {
        for i = max(1, 32*ti) to min(32*ti + 31, 98) {
          for j = min(32*tj + 31, 98) to max(1, 32*tj) step -1 {
            when i + j - 4 >= 0 and (i - j - 1) % 3 != 0 and i - j != 0 {
              read grid[0][i - 1][j]
              let half = floor(i / 2) {
                read point byte 24*half + 8 size 8 "point[i / 2].y"
                let odd = i - 2*half {
                  write grid[odd][i][j]
                }
              }
            }
          }
        }
      }
    }
    barrier
    for i = 0 to 99 share static {
      read point[i] size 8
      read sum
      write sum
    }
  }
}

# Flags of a project.
$ folder=$PWD/project && mkdir -p $folder/inc && echo '#define SIZE 6' > $folder/inc/size.h
$ printf '#include "size.h"\ndouble a[SIZE * K];\nvoid f(void) { for (int i = 0; i < SIZE * K; i++) a[i] = 0; }\n' > $folder/f.c
$ printf '[{"directory":"%s","file":"f.c","command":"no-such-compiler -O2 -fplugin=evil.so -Iinc \\"-DK=3\\" -c f.c -o f.o"}]' $folder > $folder/compile_commands.json
$ (cd $folder && reusescope loops f.c --compile-commands . --emit-ir) | grep 'array\|for'
array a 8 [18]
  for i = 0 to 17 @3 {
$ (cd $folder && reusescope loops f.c --compile-commands compile_commands.json -D K=5 --emit-ir) 2>&1 | grep 'array\|for'
array a 8 [30]
  for i = 0 to 29 @3 {
$ echo '-DK=7' > $folder/flags; sed -i 's|-Iinc|-Iinc -I @flags @flags|' $folder/compile_commands.json; (cd $folder && reusescope loops f.c --compile-commands . --emit-ir) | grep 'array'
array a 8 [18]
$ (cd $folder && reusescope loops @flags --emit-ir)
reusescope: @flags: a name that starts with @ (write ./@flags)
[2]
$ (cd $folder && reusescope loops f.c --emit-ir)
reusescope: f.c:1:10: fatal error: size.h: No such file or directory
[1]
$ (cd $folder && cp f.c g.c && reusescope loops g.c --compile-commands . --emit-ir)
reusescope: ./compile_commands.json: no command compiles g.c
[2]
$ (cd $folder && echo '{}' > compile_commands.json && reusescope loops f.c --compile-commands . --emit-ir)
reusescope: ./compile_commands.json: not a list of commands
[1]

# Functions of other files of the project, with the static functions, variables and types that they need there.
$ mkdir -p project/lib; printf '#ifndef N\n#define N 32\n#endif\nvoid row(int i, double from[N][N], double to[N][N]);\ndouble shift(double x);\n' > project/grid.h
$ printf '#include "grid.h"\ndouble a[N][N], b[N][N];\nvoid relax(void) {\n#pragma omp parallel for\n  for (int i = 1; i < N - 1; i++) row(i, a, b);\n}\n' > project/main.c
$ printf '#include <math.h>\n#include "../grid.h"\ntypedef struct { double left, right; } sides;\nstatic double weight[2] = {0.25, 0.5};\nstatic double two(double *p, int j) { return p[j - 1] * weight[0] + p[j + 1] * weight[1]; }\nvoid row(int i, double from[N][N], double to[N][N]) {\n  sides s = {1, 2};\n  for (int j = 1; j < N - 1; j++) to[i][j] = shift(two(from[i], j)) + sqrt(from[i + 1][j]) + s.left;\n}\n' > project/lib/row.c
$ printf '#include "../grid.h"\nstatic const double table[4] = {1, 2, 3, 4};\ndouble shift(double x) { return x + table[K]; }\n' > project/lib/shift.c
$ printf '[{"directory":"%s","file":"main.c","command":"cc -c main.c"},{"directory":"%s/lib","file":"row.c","command":"cc -c row.c"},{"directory":"%s/lib","file":"missing.c","command":"cc -c missing.c"},{"directory":"%s/lib","file":"@shift","command":"cc"},{"directory":"%s/lib","file":"shift.c","arguments":["cc","-DK=2","-c","shift.c"]}]' $PWD/project $PWD/project $PWD/project $PWD/project $PWD/project > project/compile_commands.json
$ (cd project && reusescope loops main.c --compile-commands . -o lib/row.c)
reusescope: lib/row.c: this command reads or runs it: it would be overwritten
[2]
$ (cd project && reusescope loops main.c --compile-commands . --emit-ir -o compile_commands.json)
reusescope: compile_commands.json: this command reads or runs it: it would be overwritten
[2]
$ (cd project && reusescope loops main.c --list; reusescope loops main.c --compile-commands . --emit-ir | sed "s,$PWD/,,")
main.c:5: relax: sequential, 0 references in the source
main.c:5:   not affine: a call of row, whose body is not in the source
loops 1
array a 8 [32][32]
array b 8 [32][32]
array weight 8 [2]
array table 8 [4]
\
nest "relax:5" function relax @"main.c":5 {
  parallel @5 {
    for i = 1 to 30 share static @5 {
      for j = 1 to 30 @"row.c":8 {
        read a[i][j - 1] @"row.c":5 "p[j - 1]"
        read weight[0] @"row.c":5 "weight[0]"
        read a[i][j + 1] @"row.c":5 "p[j + 1]"
        read weight[1] @"row.c":5 "weight[1]"
        read table[2] @"shift.c":3 "table[2]"
        read a[i + 1][j] @"row.c":8 "from[i + 1][j]"
        write b[i][j] @"row.c":8 "to[i][j]"
      }
    }
  }
}
# A static variable there whose name this file uses for its own: the call stays a gap.
$ (cd project && echo 'double weight;' >> main.c && reusescope loops main.c --compile-commands . --list | sed "s,$PWD/,,")
main.c:5: relax: sequential, 0 references in the source
main.c:5:   not affine: a call of row, whose body is not in the source

# C++: containers, references, ranges, members of the object.
$ reusescope loops tests/loops/containers.cc --function initial --emit-ir
loops 1
array out 8 []
array fixed 32
array weight 32
array zero 32
array same 32
array pair 16
array row 8 [2][3]
\
nest "initial:53" function initial @"tests/loops/containers.cc":53 {
  for i = 0 to 7 @53 {
    write weight size 8 @54 "weight"
    read out[i] @54 "out[i]"
    write weight byte 8 size 8 @54 "weight"
    for word = 0 to 1 {
      write weight byte 8*word + 16 size 8 @54 "weight"
    }
    for word = 0 to 3 {
      write zero byte 8*word size 8 @54 "zero"
    }
    for word = 0 to 3 {
      read weight byte 8*word size 8 @54 "same = weight"
      write same byte 8*word size 8 @54 "same = weight"
    }
    write pair size 4 @55 "pair"
    write pair byte 4 size 4 @55 "pair"
    write pair byte 8 size 4 @55 "pair"
    let word = 0 {
      write pair byte 4*word + 12 size 4 @55 "pair"
    }
    write row[0][0] @56 "row"
    write row[0][1] @56 "row"
    let word = 0 {
      write row[1][word - 1] @56 "row"
    }
    write row[1][0] @56 "row"
    write row[1][1] @56 "row"
    let word = 0 {
      write row[2][word - 1] @56 "row"
    }
    let q = floor(i / 4) {
      read weight byte 8*i - 32*q size 8 @57 "weight[i & 3]"
      read zero byte 8 size 8 @57 "zero[1]"
      read same byte 16 size 8 @57 "same[2]"
      read pair byte 12 size 4 @57 "pair[1][1]"
      read row[1][2] @57 "row[1][2]"
      read fixed byte 24 size 8 @57 "fixed[3]"
      write out[i] @57 "out[i]"
    }
  }
}
$ reusescope loops tests/loops/containers.cc --set n=20 --list
tests/loops/containers.cc:22: scale: dynamic,4, 2 references in the source
tests/loops/containers.cc:29: own: sequential, 3 references in the source
tests/loops/containers.cc:34: own: sequential, 3 references in the source
tests/loops/containers.cc:35: own: sequential, 1 reference in the source
tests/loops/containers.cc:36: own: sequential, 3 references in the source
tests/loops/containers.cc:36:   not affine: row is loaded from memory
tests/loops/containers.cc:37: own: sequential, 3 references in the source
tests/loops/containers.cc:42: nested: sequential, 0 references in the source
tests/loops/containers.cc:42:   not affine: which vector it is depends on data: its elements are at a pointer loaded from memory
tests/loops/containers.cc:43: nested: sequential, 0 references in the source
tests/loops/containers.cc:43:   not affine: loop left out: v.size() is not known (--set 'v.size()=NUMBER' gives it)
tests/loops/containers.cc:47: sweep: sequential, 3 references in the source
tests/loops/containers.cc:53: initial: sequential, 24 references in the source
$ reusescope loops tests/loops/containers.cc --set n=20 --set 'v.size()=30' --emit-ir
loops 1
array grid 1048
array "this->flat" 8 []
array table 96
array scale.v 8 []
array own.a 8 []
array own.b 8 []
array "rows[0]" 8 []
array nested.v.2 8 []
array out 8 []
array fixed 32
array weight 32
array zero 32
array same 32
array pair 16
array row 8 [2][3]
\
nest "scale:22" function scale @"tests/loops/containers.cc":22 {
  parallel @22 {
    for i = 0 to 19 share dynamic 4 @22 {
      read scale.v[i] @22 "v.at(i)"
      write scale.v[i] @22 "v[i]"
    }
  }
}
\
nest "own:29" function own @"tests/loops/containers.cc":29 {
  for i = 0 to 19 @29 {
    for j = 0 to min(i - 1, 6) @30 {
      read own.b[j] @32 "b.data()[j]"
      read own.a[20*i + j] @32 "x"
      write own.a[20*i + j] @32 "x"
    }
  }
}
\
nest "own:34" function own @"tests/loops/containers.cc":34 {
  for i = 0 to 18 @34 {
    read own.a[i + 1] @25 "from[at + 1]"
    read own.b[i] @25 "to[at]"
    write own.b[i] @25 "to[at]"
  }
}
\
nest "own:35" function own @"tests/loops/containers.cc":35 {
  for x = 0 to 19 @35 {
    write own.b[x] @35 "x"
  }
}
\
nest "own:36" function own @"tests/loops/containers.cc":36 {
  without @36 "row is loaded from memory" "row[1]"
  for row = 0 to 5 @36 {
    read table byte 16*row size 16 @36 "row"
    read own.b[0] @36 "b[0]"
    write own.b[0] @36 "b[0]"
  }
}
\
nest "own:37" function own @"tests/loops/containers.cc":37 {
  for row = 0 to 5 @37 {
    for x = 0 to 3 @38 {
      read table byte 16*row + 4*x size 4 @38 "x"
      read own.b[1] @38 "b[1]"
      write own.b[1] @38 "b[1]"
    }
  }
}
\
nest "nested:42" function nested @"tests/loops/containers.cc":42 {
  without @42 "which vector it is depends on data: its elements are at a pointer loaded from memory" "rows[i][0]"
}
\
nest "nested:43" function nested @"tests/loops/containers.cc":43 {
  for x = 0 to 29 @43 {
    read nested.v.2[x] @43 "x"
    read "rows[0]"[0] @43 "rows[0][0]"
    write "rows[0]"[0] @43 "rows[0][0]"
  }
}
\
nest "sweep:47" function sweep @"tests/loops/containers.cc":47 {
  for i = 1 to 7 @47 {
    for j = 0 to 15 @48 {
      read grid byte 128*i + 8*j - 128 size 8 @48 "cell[i - 1][j]"
      read "this->flat"[i] @48 "this->flat[i]"
      write grid byte 128*i + 8*j size 8 @48 "cell[i][j]"
    }
  }
}
\
nest "initial:53" function initial @"tests/loops/containers.cc":53 {
  for i = 0 to 7 @53 {
    write weight size 8 @54 "weight"
    read out[i] @54 "out[i]"
    write weight byte 8 size 8 @54 "weight"
    for word = 0 to 1 {
      write weight byte 8*word + 16 size 8 @54 "weight"
    }
    for word = 0 to 3 {
      write zero byte 8*word size 8 @54 "zero"
    }
    for word = 0 to 3 {
      read weight byte 8*word size 8 @54 "same = weight"
      write same byte 8*word size 8 @54 "same = weight"
    }
    write pair size 4 @55 "pair"
    write pair byte 4 size 4 @55 "pair"
    write pair byte 8 size 4 @55 "pair"
    let word = 0 {
      write pair byte 4*word + 12 size 4 @55 "pair"
    }
    write row[0][0] @56 "row"
    write row[0][1] @56 "row"
    let word = 0 {
      write row[1][word - 1] @56 "row"
    }
    write row[1][0] @56 "row"
    write row[1][1] @56 "row"
    let word = 0 {
      write row[2][word - 1] @56 "row"
    }
    let q = floor(i / 4) {
      read weight byte 8*i - 32*q size 8 @57 "weight[i & 3]"
      read zero byte 8 size 8 @57 "zero[1]"
      read same byte 16 size 8 @57 "same[2]"
      read pair byte 12 size 4 @57 "pair[1][1]"
      read row[1][2] @57 "row[1][2]"
      read fixed byte 24 size 8 @57 "fixed[3]"
      write out[i] @57 "out[i]"
    }
  }
}
