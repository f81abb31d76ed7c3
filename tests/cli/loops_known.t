# loops: sources whose numbers are known. Each line: the loop, its references, its distinct lines, or why there are none.
$ cat > count.py <<'END'
> import json, sys
> for loop in json.load(sys.stdin)["loops"]:
>     if loop["nonaffine"]: print(loop["name"], loop["nonaffine"][0]["reason"])
>     else: print(loop["name"], loop["references"], loop["distinct"])
> END
$ count() { reusescope loops "$@" -t 1 -q --format json -o - 2>/dev/null | /usr/bin/python3 count.py; }

# A std::vector has the size that it was last given; one that may have another is refused.
$ cat > vector.cc <<'END'
> #include <vector>
> void resized() { std::vector<double> v; v.resize(100); for (auto &x : v) x = 1; }
> void again() { std::vector<double> v(10); v.resize(100); for (auto &x : v) x = 1; }
> void assigned() { std::vector<double> v(10); v.assign(100, 0.0); for (auto &x : v) x = 1; }
> void replaced() { std::vector<double> v(10); v = std::vector<double>(100); for (auto &x : v) x = 1; }
> void listed() { std::vector<double> v{10}; for (auto &x : v) x = 1; }
> void referred() { std::vector<double> v(10); auto &w = v; w.resize(100); for (auto &x : v) x = 1; }
> void pushed() { std::vector<double> v(10); v.push_back(1); for (auto &x : v) x = 1; }
> static void grow(std::vector<double> &v) { v.resize(100); }
> void called() { std::vector<double> v(10); grow(v); for (auto &x : v) x = 1; }
> void maybe(int c) { std::vector<double> v(10); if (c) v.resize(100); for (auto &x : v) x = 1; }
> void pointed() { std::vector<double> v(10); auto *p = &v; p->resize(100); for (auto &x : v) x = 1; }
> void lambda() { std::vector<double> v(10); auto f = [&] { v.resize(100); }; f(); for (auto &x : v) x = 1; }
> static void add(std::vector<double> &to, int at) { to[at] += 1; }
> void kept() { std::vector<double> v(100); for (int i = 0; i < 9; i++) add(v, i); for (auto &x : v) x = 1; }
> static void sort(std::vector<double> &v, int lo, int hi) { if (lo < hi) { v[lo] = 0; sort(v, lo, hi / 2); sort(v, hi / 2 + 1, hi); } }
> void sorted() { std::vector<double> v(100); sort(v, 0, 99); for (auto &x : v) x = 1; }
> double a[100]; void other(int c) { int n = 5; if (c) n = 10; else for (int i = 0; i < n; i++) a[i] = 1; }
> END
$ count vector.cc
resized:2 100 13
again:3 100 13
assigned:4 100 13
replaced:5 100 13
listed:6 1 1
referred:7 100 13
pushed:8 loop left out: v.size() is not known (--set 'v.size()=NUMBER' gives it)
called:10 loop left out: v.size() is not known (--set 'v.size()=NUMBER' gives it)
maybe:11 loop left out: v.size() is not known (--set 'v.size()=NUMBER' gives it)
pointed:12 loop left out: v.size() is not known (--set 'v.size()=NUMBER' gives it)
lambda:13 loop left out: v.size() is not known (--set 'v.size()=NUMBER' gives it)
kept:15 18 2
kept:15.2 100 13
sorted:17 100 13
other:18 5 1

# A pointer variable and what it points to are two arrays.
$ cat > pointer.c <<'END'
> #include <stdlib.h>
> double *g;
> void parameter(double *p) { for (int i = 0; i < 100; i++) p[i] = 1; }
> void local(void) { double *q = malloc(800); for (int i = 0; i < 100; i++) q[i] = 1; }
> void global(void) { for (int i = 0; i < 100; i++) g[i] = 1; }
> void moving(double *p) { for (int i = 0; i < 100; i++) *p++ = 1; }
> END
$ count pointer.c --count-scalars
parameter:3 200 14
local:4 200 14
global:5 200 14
moving:6 300 14

# Data that is threadprivate or thread_local is one array per thread: 8 lines of y, 8 each of x and z per thread.
$ cat > threads.c <<'END'
> double x[64], y[64];
> #pragma omp threadprivate(x)
> static _Thread_local double z[64];
> void kernel(void) {
> #pragma omp parallel for
>     for (int i = 0; i < 64; i++)
>         for (int j = 0; j < 64; j++) x[j] += y[j] + z[j];
> }
> END
$ reusescope loops threads.c -t 1,4 -q --format json -o - | grep -o '"t":.,\|"distinct":[0-9]*,"mrc'
"t":1,
"distinct":24,"mrc
"t":4,
"distinct":72,"mrc

# Two names of the same memory are one array.
$ cat > alias.c <<'END'
> typedef double row[100];
> double m[100][100];
> void typed(void) { row *a = m; for (int i = 0; i < 100; i++) for (int j = 0; j < 100; j++) a[i][j] = m[i][j]; }
> void through(double *p) { void *v = p; row *a = v; for (int i = 0; i < 100; i++) a[i][0] = p[100 * i]; }
> void cast(double *p) { for (int k = 0; k < 2; k++) { row *a = (row *)p; for (int i = 0; i < 100; i++) a[i][0] = p[100 * i]; } }
> void choice(int c, double *p, double *q) { double *r = c ? p : q; for (int i = 0; i < 100; i++) r[i] = p[i] + q[i]; }
> END
$ cat > alias.cc <<'END'
> void again(double *p) { auto a = reinterpret_cast<double (*)[100]>(p); for (int i = 0; i < 100; i++) a[i][0] = p[100 * i]; }
> void same(const double *p) { auto a = const_cast<double *>(p); for (int i = 0; i < 100; i++) a[i] = p[i]; }
> void braces(double *p) { double *a{p}; for (int i{0}; i < 100; i++) a[i] = p[i]; }
> END
$ count alias.c
typed:3 20000 1250
through:4 200 100
cast:5 400 100
choice:6 c is not known (--set c=NUMBER gives it)
$ count alias.cc
again:1 200 100
same:2 200 13
braces:3 200 13

# A static variable is initialised once, before: 4 references in each step.
$ cat > static.c <<'END'
> #include <stdlib.h>
> double a[100];
> static void step(int i) { static double x = 3, table[4] = {1, 2, 3}; static int at = 2; x += a[i]; table[at] = 1; }
> void steps(void) { for (int i = 0; i < 100; i++) step(i); }
> void counter(void) { for (int i = 0; i < 100; i++) { static int k = 0; a[k] = 1; k++; } }
> void bound(void) { static int n = 50; for (int i = 0; i < n; i++) a[i] = 1; n++; }
> void moving(void) { for (int i = 0; i < 10; i++) { static double *p = a; *p++ = 1; } }
> void buffer(void) { static double *p = NULL; if (!p) p = malloc(800); for (int i = 0; i < 100; i++) p[i] = 1; }
> END
$ count static.c --count-scalars
steps:4 400 15
counter:5 subscript k is not affine: k is static: it keeps its value between calls (--set k=NUMBER gives it)
bound:6 loop left out: bound is not affine: n is static: it keeps its value between calls (--set n=NUMBER gives it)
moving:7 p is static: it keeps its value between calls
buffer:8 200 14

# Of _Generic only the chosen branch is read, and not what chooses it.
$ cat > generic.c <<'END'
> typedef double real;
> double a[100], b[100]; float c[100];
> static double one(double *p, int i) { return p[i]; }
> static float two(float *p, int i) { return p[i] + p[i + 1]; }
> double own(void) { double s = 0; for (int i = 0; i < 96; i++) s += _Generic(a[i], float: c[i], double: a[i] + b[i], default: 0); return s; }
> double other(void) { double s = 0; for (int i = 0; i < 96; i++) s += _Generic(i, long int: c[i], double: a[i] + b[i], default: a[i]); return s; }
> double call(void) { double s = 0; for (int i = 0; i < 96; i++) s += _Generic(c[0], double: one, float: two)(c, i); return s; }
> void target(void) { for (int i = 0; i < 96; i++) _Generic(c[i], double: a, float: c)[i] = 0; }
> double hidden(void) { double s = 0; for (int i = 0; i < 96; i++) s += _Generic(a[i], real: a[i] + b[i], default: a[i]); return s; }
> END
$ count generic.c
own:5 192 24
other:6 96 12
call:7 192 7
target:8 96 6
hidden:9 which branch _Generic chooses is not known (write the types without typedef names)

# Plain code that is read: loops without a first value or step, do once, assertions, prefetches.
$ cat > plain.c <<'END'
> #include <assert.h>
> double a[100], b[100];
> void before(void) { int i = 10; for (; i < 50; i++) a[i] = 1; for (; i < 100; i++) a[i] = 2; }
> void row(void) { int j; for (int i = 0; i < 10; i++) { j = 0; for (; j < 10; j++) a[10 * i + j] = 1; } }
> void body(void) { for (int i = 0; i < 100;) { a[i] = 1; i += 2; } }
> void down(void) { int i; for (i = 100; i-- > 0;) a[i] = 1; }
> void wrap(void) { for (unsigned i = 100; i-- > 0;) a[i] = 1; }
> void whiles(void) { int i = 100; while (i-- > 0) a[i] = 1; }
> void once(void) { for (int i = 0; i < 100; i++) do { a[i] = 1; b[i] = 2; } while (0); }
> void leaves(void) { for (int i = 0; i < 100; i++) do { if (i > 3) break; b[i] = 2; } while (0); }
> void checks(int n) { for (int i = 0; i < 100; i++) { assert(n > 0 && b[i] > 0); a[i] = 1; } }
> void ends(void) { for (int i = 0; i < 100; i++) { assert(i >= 0 && i < 99); a[i] = 1; } }
> void stays(void) { for (int i = 0; i < 100; i++) { assert(i >= 0 && i < 100); a[i] = 1; } }
> void ahead(void) { for (int i = 0; i < 92; i++) { __builtin_prefetch(&a[i + 8]); (void)i; a[i] = 1; } }
> void uneven(void) { for (int i = 0; i < 9;) { if (i == 3) { i++; continue; } a[i] = 1; i++; } }
> END
$ { echo '#include <stdexcept>'; cat plain.c; echo 'void thrown() { for (int i{0}; i < 100; i++) { if (a[i] < 0) throw std::runtime_error("less"); b[i] = 1; } }'; } > plain.cc
$ count plain.c
before:3 40 6
before:3.2 50 7
row:4 100 13
body:5 50 13
down:6 100 13
wrap:7 100 13
whiles:8 100 13
once:9 200 26
leaves:10 a while loop whose trip count is not known: break, goto or return ends the loop early
checks:11 200 26
ends:12 the program may end here, which depends on loop variables
stays:13 100 13
ahead:14 92 12
uneven:15 loop left out: i does not change by the same step in every iteration
$ count plain.c -D NDEBUG --function checks
checks:11 100 13
$ count plain.cc | grep 'checks\|thrown\|ahead'
checks:12 200 26
ahead:15 92 12
thrown:17 200 26

# Loops of C++ are listed wherever they are: in templates that are called, constructors, lambdas, try blocks, local classes.
$ cat > where.cc <<'END'
> #include <algorithm>
> double a[100], b[100];
> template <class T> void fill(T *p) { for (int i = 0; i < 50; i++) p[i] = 1; }
> template <> void fill<int>(int *p) { for (int i = 0; i < 16; i++) p[i] = 1; }
> template <int N> struct square { double d[N][N]; void zero(); };
> template <int N> void square<N>::zero() { for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) d[i][j] = 0; }
> template <class T> void unused(T *p) { for (int i = 0; i < 50; i++) p[i] = 1; }
> struct grid { double d[80]; grid() : d{} { for (int i = 0; i < 80; i++) d[i] = 1; } ~grid() { for (double &x : d) x = 0; } };
> void user() { float f[50]; int n[16]; fill(a); fill(f); fill(n); square<7> m; m.zero(); }
> void lambda(int n) { int k = 10; auto f = [&] { for (int i = 0; i < 40; i++) a[i] = 1; for (int i = 0; i < k; i++) b[i] = 1; }; k = n; f(); }
> void changed() { int k = 10; auto f = [&] { k = 99; }; f(); for (int i = 0; i < k; i++) b[i] = 1; }
> void passed() { std::for_each(a, a + 10, [](double &x) { for (int i = 0; i < 30; i++) b[i] = x; }); }
> auto global = [] { for (int i = 0; i < 20; i++) a[i] = 1; };
> void tried() { try { for (int i = 0; i < 100; i++) try { a[i] = 1; } catch (...) { b[i] = 1; } } catch (...) { for (int i = 0; i < 60; i++) b[i] = 1; } }
> void whole() try { for (int i = 0; i < 100; i++) a[i] = 1; } catch (...) { }
> void local() { struct inner { void go() { for (int i = 0; i < 70; i++) a[i] = 1; } }; inner().go(); }
> void declares() { if (int n = 5; n > 3) for (int i = 0; i < 99; i++) if (int k = 2 * i; k >= 20) a[i] = 1; }
> END
$ count where.cc
fill:3 50 7
fill:3.2 50 4
fill:4 16 1
zero:6 49 7
unused:7 the loops of unused are left out: a template of which no call was found in this file
grid:8 80 10
~grid:8 80 10
lambda:10 40 5
lambda:10.2 loop left out: bound is not affine: k may change before the lambda is called at line 10
changed:11 loop left out: bound is not affine: k may change through its address
passed:12 30 4
global:13 20 3
tried:14 100 13
tried:14.2 60 8
whole:15 100 13
go:16 70 9
declares:17 89 12

# Circular subscripts: a quotient in a subscript does not make the iterations uneven, nor the array longer.
$ cat > circular.c <<'END'
> double a[1024], b[1 << 26], c[20000], d[20000];
> void mask(double *p) { for (int i = 0; i < 1 << 26; i++) b[i] += p[i & 1023]; }
> void turn(void) {
> #pragma omp parallel for
>     for (int i = 0; i < 20000; i++)
>         for (int k = 0; k < 20000; k++) d[i] += c[(i + k) % 20000];
> }
> END
$ count circular.c
mask:2 201326592 8388736
turn:5 1200000000 5000

# Members of base classes: of the first one, in the same object; a base that is elsewhere in the object is refused.
$ cat > base.cc <<'END'
> struct none {}; struct a { double x[16]; }; struct b { double y[16]; };
> struct one : none, a { double z[16]; void own() { for (int i = 0; i < 16; i++) z[i] = x[i]; } } o;
> struct two : a, b { double z[16]; } t;
> struct table : a { virtual ~table(); double z[16]; } v;
> void first() { for (int i = 0; i < 16; i++) o.z[i] = o.x[i] + t.x[i]; }
> void second() { for (int i = 0; i < 16; i++) t.z[i] = t.y[i]; }
> void moved() { for (int i = 0; i < 16; i++) v.z[i] = v.x[i]; }
> void pointer(two *p) { a *q = p; for (int i = 0; i < 16; i++) q->x[i] = p->x[i]; }
> void other(two *p) { auto *q = static_cast<b *>(p); for (int i = 0; i < 16; i++) q->y[i] = p->x[i]; }
> END
$ count base.cc
own:2 32 4
first:5 48 6
second:6 a member of a base class whose place in the object is not known
moved:7 a member of a base class whose place in the object is not known
pointer:8 32 2
other:9 a pointer to a base class whose place in the object is not known
