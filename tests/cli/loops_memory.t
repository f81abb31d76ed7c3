# loops: where members are, and what stores through pointers change: addresses and values that must not be assumed.
$ ir() { reusescope loops "$@" -q --emit-ir | grep 'read\|write\|without'; }

# Members of anonymous structures and unions are where the structure around them has them.
$ cat > nameless.c <<'END'
> struct s { int pad; struct { double x[8], y[8]; }; union { double u[4]; float v[8]; }; int tail; };
> struct deep { long l; struct { long m; union { struct { double d, e; }; double de[2]; }; }; };
> struct named { int pad; struct { union { struct { double x, y, z; }; double v[3]; }; double w; } in; };
> struct only { struct { double x[8]; }; };
> struct s g[64]; struct deep dd[64]; struct named n[64]; struct only from, to;
> void level(void) { for (int i = 0; i < 64; i++) g[i].y[2] = g[i].u[1] + g[i].v[2] + g[i].tail; }
> void nested(struct deep *p) { for (int i = 0; i < 64; i++) p[i].e = p[i].de[1] + dd[i].d; }
> void inside(void) { for (int i = 0; i < 64; i++) n[i].in.y = n[i].in.v[2] + n[i].in.w; }
> void copied(void) { for (int i = 0; i < 8; i++) to = from; }
> END
$ ir nameless.c
    read g byte 176*i + 144 size 8 @6 "g[i].u[1]"
    read g byte 176*i + 144 size 4 @6 "g[i].v[2]"
    read g byte 176*i + 168 size 4 @6 "g[i].tail"
    write g byte 176*i + 88 size 8 @6 "g[i].y[2]"
    read p byte 32*i + 24 size 8 @7 "p[i].de[1]"
    read dd byte 32*i + 16 size 8 @7 "dd[i].d"
    write p byte 32*i + 24 size 8 @7 "p[i].e"
    read n byte 40*i + 24 size 8 @8 "n[i].in.v[2]"
    read n byte 40*i + 32 size 8 @8 "n[i].in.w"
    write n byte 40*i + 16 size 8 @8 "n[i].in.y"
    read from @9 "from"
    write to @9 "to"
$ cat > nameless.cc <<'END'
> struct b { long k; union { double u[8]; long bits[8]; }; };
> struct d : b { int z; struct { double e[4]; }; };
> double a[64]; d dd;
> struct m { long l; struct { long o; double p[4]; }; void go() { for (int i = 0; i < 4; i++) p[i] = a[i]; } };
> template <typename T> struct t { long l; union { T x[4]; long y[4]; }; };
> void base() { for (int i = 0; i < 4; i++) dd.u[i] = dd.e[i]; }
> void made(t<double> *v) { for (int i = 0; i < 4; i++) v[i].x[2] = v[i].y[1]; }
> namespace { union { double ua[8]; long ub[8]; }; }
> void apart() { for (int i = 0; i < 8; i++) ua[i] = ub[i]; }
> END
$ ir nameless.cc
    read a[i] @4 "a[i]"
    write m byte 8*i + 16 size 8 @4 "p[i]"
    read dd byte 8*i + 80 size 8 @6 "dd.e[i]"
    write dd byte 8*i + 8 size 8 @6 "dd.u[i]"
    read v byte 40*i + 16 size 8 @7 "v[i].y[1]"
    write v byte 40*i + 24 size 8 @7 "v[i].x[2]"
    read nameless byte 8*i size 8 @9 "ub[i]"
    write nameless byte 8*i size 8 @9 "ua[i]"

# A pointer in a union changes with the other members of the union.
$ cat > union.c <<'END'
> struct h { struct { double *q; }; union { double *p; double **pp; long bits; }; long count; };
> double a[8]; extern long table[8];
> void kept(struct h *z) { for (int i = 0; i < 8; i++) { z->p[i] = z->q[i]; z->count += i; } }
> void moved(struct h *z) { for (int j = 0; j < 4; j++) { z->bits += 64; for (int i = 0; i < 8; i++) z->p[i] = 1; } }
> void loaded(struct h *z, int j) { z->bits = table[j]; for (int i = 0; i < 8; i++) z->p[i] = a[i]; }
> void other(struct h *z, double **w) { z->pp = w; for (int i = 0; i < 8; i++) z->p[i] = a[i]; }
> END
$ ir union.c
    read "z->q"[i] @3 "z->q[i]"
    write "z->p"[i] @3 "z->p[i]"
    read z byte 16 size 8 @3 "z->count"
    write z byte 16 size 8 @3 "z->count"
  without @4 "the pointer z->p is loaded from memory" "z->p[i]"
    read moved.z byte 8 size 8 @4 "z->bits"
    write moved.z byte 8 size 8 @4 "z->bits"
  without @5 "the pointer z->p is loaded from memory" "z->p[i]"
    read a[i] @5 "a[i]"
  without @6 "the pointer z->p is loaded from memory" "z->p[i]"
    read a[i] @6 "a[i]"

# Rows of a[n][m] have the length that m had where a was declared: parameters on entry, variables at their declaration.
$ cat > rows.c <<'END'
> #include <stdlib.h>
> void entry(int n, int m, double a[n][m]) { n = 3; m = 5; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i][j] = 1; }
> void pointer(int m, double (*a)[m]) { m /= 2; for (int i = 0; i < 3; i++) for (int j = 0; j < m; j++) a[i][j] = 1; }
> void maybe(int n, int m, double a[n][m]) { if (n > 4) m = 5; for (int i = 0; i < 3; i++) a[i][0] = 1; }
> static void called(int n, int m, double a[n][m]) { m = 2; n = 2; for (int i = 0; i < n; i++) a[i][1] = 1; }
> void caller(double *p) { for (int k = 0; k < 3; k++) called(8, 10 + k - k, (double (*)[10])p); }
> void later(int m, double *p) { double (*a)[m]; m = 20; a = (void *)p; for (int i = 0; i < 3; i++) a[i][4] = 1; }
> void again(double *p) { for (int k = 0; k < 2; k++) { int m = 4 + k; double (*a)[m] = (void *)p; m = 7; for (int i = 0; i < 3; i++) a[i][4] = 1; } }
> END
$ reusescope loops rows.c -q --emit-ir --set n=8 --set m=16 | grep 'array\|for\|write\|without'
array a 8 [8][16]
array pointer.a 8 [][16]
array maybe.a 8 [8][16]
array p 8 []
array later.p 8 []
  for i = 0 to 2 @2 {
    for j = 0 to 4 @2 {
      write a[i][j] @2 "a[i][j]"
  for i = 0 to 2 @3 {
    for j = 0 to 7 @3 {
      write pointer.a[i][j] @3 "a[i][j]"
  for i = 0 to 2 @4 {
    write maybe.a[i][0] @4 "a[i][0]"
  for k = 0 to 2 @6 {
    for i = 0 to 1 @5 {
      write p[10*i + 1] @5 "a[i][1]"
  for i = 0 to 2 @7 {
    write later.p[16*i + 4] @7 "a[i][4]"
  without @8 "an extent of a is not known: it is not a positive number" "a[i][4]"

# Code that is not run may store pointers: those that are loaded afterwards, or in the next iteration, may be any of their type.
$ cat > skipped.c <<'END'
> #include <stdlib.h>
> struct g { double *p; float *f; };
> struct node { struct node *next; double *p; };
> static void set(struct g *z, double *x) { z->p = x; }
> void whole(struct g *z, double *x, int *t) { while (*t) { z->p = x; t++; } for (int i = 0; i < 8; i++) z->p[i] = x[i]; }
> void inner(struct g *z, double *x, int *t) { for (int k = 0; k < 4; k++) { for (int i = 0; i < 8; i++) z->p[i] = x[i]; while (t[k]) { z->p = x; t[k]--; } } }
> void called(struct g *z, double *x, int *t) { for (int i = 0; t[i]; i++) set(z, x); for (int i = 0; i < 8; i++) z->p[i] = x[i]; }
> void chosen(struct g *z, double *x, int c) { switch (c) { case 1: z->p = x; } for (int i = 0; i < 8; i++) z->p[i] = x[i]; }
> void copied(struct g *z, struct g *y, int *t) { for (int i = 0; t[i]; i++) *z = *y; for (int i = 0; i < 8; i++) z->p[i] = y->p[i]; }
> void listed(struct node *l, struct g *z, double *x) { while (l) { l->p = x; l = l->next; } for (int i = 0; i < 8; i++) z->p[i] = x[i]; }
> void others(struct node *l, struct g *z, float *x) { while (l) { l->next = l; l = l->next; } for (int i = 0; i < 8; i++) z->f[i] = x[i]; }
> void fresh(struct g *z, double *x, int *t) { while (t[0]--) z->p = malloc(64); for (int i = 0; i < 8; i++) z->p[i] = x[i]; }
> END
$ reusescope loops skipped.c -q --list | grep -v while
skipped.c:5: whole: sequential, 0 references in the source
skipped.c:5: whole: sequential, 1 reference in the source
skipped.c:5:   not affine: the pointer z->p is loaded from memory
skipped.c:6: inner: sequential, 1 reference in the source
skipped.c:6:   not affine: the pointer z->p is loaded from memory
skipped.c:7: called: sequential, 0 references in the source
skipped.c:7:   not affine: loop left out: the condition is not a comparison
skipped.c:7: called: sequential, 1 reference in the source
skipped.c:7:   not affine: the pointer z->p is loaded from memory
skipped.c:8: chosen: sequential, 1 reference in the source
skipped.c:8:   not affine: the pointer z->p is loaded from memory
skipped.c:9: copied: sequential, 0 references in the source
skipped.c:9:   not affine: loop left out: the condition is not a comparison
skipped.c:9: copied: sequential, 1 reference in the source
skipped.c:9:   not affine: the pointer z->p is loaded from memory
skipped.c:10: listed: sequential, 0 references in the source
skipped.c:10: listed: sequential, 1 reference in the source
skipped.c:10:   not affine: the pointer z->p is loaded from memory
skipped.c:11: others: sequential, 0 references in the source
skipped.c:11: others: sequential, 2 references in the source
skipped.c:12: fresh: sequential, 0 references in the source
skipped.c:12: fresh: sequential, 2 references in the source
$ cat > escaped.c <<'END'
> void elsewhere(void);
> double w[64]; static int n, left; static int *pn; static double *d; static double **pd = &d; int many[8];
> void take(void) { pn = &n; }
> void number(void) { n = 5; *pn = 7; for (int i = 0; i < n; i++) w[i] = 1; }
> void again(int *t) { n = 5; for (int k = 0; k < 4; k++) { for (int i = 0; i < n; i++) w[i] = 1; *pn = t[k]; } }
> static void store(void) { *pn = 3; }
> void inlined(void) { n = 5; for (int k = 0; k < 4; k++) { for (int i = 0; i < n; i++) w[i] = 1; store(); } }
> void pointer(double *x) { d = w; *pd = x; for (int i = 0; i < 4; i++) d[i] = x[i]; }
> void kept(void) { n = 5; left = 6; many[3] = 1; for (int i = 0; i < n; i++) w[i] = 1; }
> void hidden(void) { left = 6; *pn = 3; for (int i = 0; i < left; i++) w[i] = 1; }
> void unseen(int *t) { left = 6; for (int k = 0; t[k]; k++) elsewhere(); for (int i = 0; i < left; i++) w[i] = 1; }
> END
$ reusescope loops escaped.c -q --list
escaped.c:4: number: sequential, 0 references in the source
escaped.c:4:   not affine: loop left out: bound is not affine: n may change through its address (--set n=NUMBER gives it)
escaped.c:5: again: sequential, 2 references in the source
escaped.c:5:   not affine: loop left out: bound is not affine: n may change through its address (--set n=NUMBER gives it)
escaped.c:7: inlined: sequential, 1 reference in the source
escaped.c:7:   not affine: loop left out: bound is not affine: n may change through its address (--set n=NUMBER gives it)
escaped.c:8: pointer: sequential, 1 reference in the source
escaped.c:8:   not affine: d may change through its address
escaped.c:9: kept: sequential, 1 reference in the source
escaped.c:10: hidden: sequential, 1 reference in the source
escaped.c:11: unseen: sequential, 0 references in the source
escaped.c:11:   not affine: loop left out: the condition is not a comparison
escaped.c:11: unseen: sequential, 0 references in the source
escaped.c:11:   not affine: loop left out: bound is not affine: left may change in a call
$ reusescope loops escaped.c -q --list --set n=5 | head -2
escaped.c:4: number: sequential, 1 reference in the source
escaped.c:5: again: sequential, 3 references in the source

# A function whose body is not in the source may return what it is passed; one that allocates returns other memory.
$ cat > result.c <<'END'
> #include <stdlib.h>
> double *f(double *p), *pool_alloc(double *pool, int n), *copy_alloc(const double *p), *my_alloc(int n);
> double *made(double *like) __attribute__((malloc));
> struct pool; double *from_alloc(struct pool *, int n);
> struct ops { double *(*alloc)(double *); };
> void any(double *p) { double *q = f(p); for (int i = 0; i < 8; i++) q[i] = p[i]; }
> void pool(double *p) { double *q = pool_alloc(p, 3); for (int i = 0; i < 8; i++) q[i] = p[i]; }
> void array(void) { double w[8], *q = pool_alloc(w, 3); for (int i = 0; i < 8; i++) q[i] = w[i]; }
> void by_pointer(double *p, struct ops *o) { double *q = o->alloc(p); for (int i = 0; i < 8; i++) q[i] = p[i]; }
> void copy(double *p) { double *q = copy_alloc(p); for (int i = 0; i < 8; i++) q[i] = p[i]; }
> void own(double *p) { double *q = my_alloc(3); for (int i = 0; i < 8; i++) q[i] = p[i]; }
> void handle(struct pool *p) { double *q = from_alloc(p, 3), *r = from_alloc(p, 3); for (int i = 0; i < 8; i++) q[i] = r[i]; }
> void larger(double *p) { p = realloc(p, 80); for (int i = 0; i < 8; i++) p[i] = p[i + 1]; }
> void declared(double *p) { double *q = made(p); for (int i = 0; i < 8; i++) q[i] = p[i]; }
> END
$ reusescope loops result.c -q --list
result.c:6: any: sequential, 1 reference in the source
result.c:6:   not affine: the result of f is not known (if it allocates, declare it with __attribute__((malloc)))
result.c:7: pool: sequential, 1 reference in the source
result.c:7:   not affine: the result of pool_alloc is not known (if it allocates, declare it with __attribute__((malloc)))
result.c:8: array: sequential, 1 reference in the source
result.c:8:   not affine: the result of pool_alloc is not known (if it allocates, declare it with __attribute__((malloc)))
result.c:9: by_pointer: sequential, 1 reference in the source
result.c:9:   not affine: the result of alloc is not known (if it allocates, declare it with __attribute__((malloc)))
result.c:10: copy: sequential, 2 references in the source
result.c:11: own: sequential, 2 references in the source
result.c:12: handle: sequential, 2 references in the source
result.c:13: larger: sequential, 2 references in the source
result.c:14: declared: sequential, 2 references in the source
