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
changed:11 loop left out: bound is not affine: k may change through its address (--set k=NUMBER gives it)
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

# A pointer from a call is the same memory where the function is followed, other memory if that was just allocated, and else not known.
$ cat > called.c <<'END'
> #include <stdlib.h>
> double a[100], b[100];
> extern double *outside(double *p); extern int position(void);
> extern double *table(int n) __attribute__((malloc));
> static double *same(double *p) { return p; }
> static double *shifted(double *p, int n) { return p + 2 * n; }
> static double *made(int n) { double *p = malloc(n * sizeof *p); for (int i = 0; i < n; i++) p[i] = 0; return p; }
> void passed(double *p) { double *q = same(p); for (int i = 0; i < 100; i++) q[i] = p[i]; }
> void offset(double *p) { double *q = shifted(p, 4); for (int i = 0; i < 100; i++) q[i] = p[i]; }
> void inside(double *p) { for (int i = 0; i < 50; i++) { double *q = shifted(p, i); *q = p[i]; } }
> void unknown(double *p) { double *q = outside(p); for (int i = 0; i < 100; i++) q[i] = p[i]; }
> void assigned(double *p) { double *q; q = outside(p); for (int i = 0; i < 100; i++) q[i] = p[i]; }
> void nowhere(double *p) { double *q = p + position(); for (int i = 0; i < 100; i++) q[i] = p[i]; }
> void twice(void) { double *p = made(100), *q = made(100); for (int i = 0; i < 100; i++) q[i] = p[i]; }
> void declared(void) { double *p = table(100), *q = table(100); for (int i = 0; i < 100; i++) q[i] = p[i]; }
> void grown(void) { double *p = malloc(800), *old = p; p = malloc(1600); for (int i = 0; i < 100; i++) p[i] = old[i]; }
> double *const fixed = a, *moving = a;
> void constant(void) { for (int i = 0; i < 100; i++) fixed[i] = a[i]; }
> void variable(void) { for (int i = 0; i < 100; i++) moving[i] = a[i]; }
> END
$ count called.c
made:7 loop left out: bound is not affine: n is not known (--set n=NUMBER gives it)
passed:8 200 13
offset:9 200 14
inside:10 100 13
unknown:11 the result of outside is not known (if it allocates, declare it with __attribute__((malloc)))
assigned:12 the result of outside is not known (if it allocates, declare it with __attribute__((malloc)))
nowhere:13 the result of position is not known
twice:14 200 26
declared:15 200 26
grown:16 200 26
constant:18 200 13
variable:19 moving may have another value than its first: it is not const

# Pointers that were stored in a structure may be any; those that come from elsewhere or were just allocated are not.
$ cat > stored.c <<'END'
> #include <stdlib.h>
> #include <string.h>
> double a[100], b[100];
> struct view { double *p, *q; }; struct rows { double v[4]; } rows[100];
> struct view fixed = {a, b}; double *both[2] = {a, b};
> extern void outside(struct view *v, double *p);
> static void set(struct view *v, double *p) { v->p = p; }
> static void new(struct view *v) { v->p = malloc(800); v->q = malloc(800); }
> void listed(void) { struct view v = {a, b}; for (int i = 0; i < 100; i++) v.p[i] = a[i]; }
> void named(void) { struct view v = {.q = b}; for (int i = 0; i < 100; i++) v.q[i] = b[i]; }
> void copied(struct view *v) { struct view w = *v; for (int i = 0; i < 100; i++) w.p[i] = v->p[i]; }
> void bytes(struct view *v) { struct view w; memcpy(&w, v, sizeof w); for (int i = 0; i < 100; i++) w.p[i] = v->p[i]; }
> void called(void) { struct view v; set(&v, a); for (int i = 0; i < 100; i++) v.p[i] = a[i]; }
> void hidden(void) { struct view v; outside(&v, a); for (int i = 0; i < 100; i++) v.p[i] = a[i]; }
> void global(void) { for (int i = 0; i < 100; i++) fixed.p[i] = a[i]; }
> void element(void) { for (int i = 0; i < 100; i++) both[0][i] = a[i]; }
> void turns(struct view *v) { for (int t = 0; t < 4; t++) { for (int i = 0; i < 100; i++) v->p[i] = b[i]; v->p = b; } }
> void turns2(struct view *v) { for (int t = 0; t < 4; t++) { v->p[t] = b[t]; v->p = b; } }
> void given(struct view *v) { for (int i = 0; i < 100; i++) v->p[i] = v->q[i]; }
> void made(void) { struct view v = {malloc(800), NULL}; new(&v); for (int i = 0; i < 100; i++) v.p[i] = v.q[i]; }
> void whole(void) { for (int i = 0; i < 100; i++) { struct rows r = rows[i]; a[i] = r.v[i % 4]; } }
> void target(void) { for (int i = 0; i < 100; i++) { struct rows r; r = rows[i]; a[i] = r.v[0]; } }
> void values(void) { for (int i = 0; i < 100; i++) { struct rows r = {{1, 2}}; a[i] = r.v[0]; } }
> END
$ count stored.c
listed:9 the pointer v.p is loaded from memory
named:10 the pointer v.q is loaded from memory
copied:11 the pointer w.p is loaded from memory
bytes:12 the pointer w.p is loaded from memory
called:13 the pointer v.p is loaded from memory
hidden:14 the pointer v.p is loaded from memory
global:15 the pointer fixed.p is loaded from memory
element:16 the pointer both[0] is loaded from memory
turns:17 the pointer v->p is loaded from memory
turns2:18 the pointer v->p is loaded from memory
given:19 200 26
made:20 200 26
whole:21 1000 64
target:22 400 64
values:23 the initial values of r
$ cat > stored.cc <<'END'
> double a[100], b[100]; struct view { double *p; int n; double *own() { return p; } }; struct pair { double x, y; } pairs[100];
> void listed() { view v{a, 3}; for (int i = 0; i < 100; i++) v.p[i] = a[i]; }
> void none() { view v; v.p = new double[100]; for (int i = 0; i < 100; i++) v.p[i] = a[i]; }
> void placed() { double *p = new (a) double[100]; for (int i = 0; i < 100; i++) p[i] = a[i]; }
> void method(view &v) { double *p = v.own(); for (int i = 0; i < 100; i++) p[i] = v.p[i]; }
> struct matrix { double *d; int n; matrix(int n) : d(new double[n]), n(n) {} matrix(double *p) : d(p), n(0) {} matrix() : d(a), n(0) {} };
> void built() { matrix m(100), o(100); for (int i = 0; i < 100; i++) m.d[i] = o.d[i]; }
> void around() { matrix m(a); for (int i = 0; i < 100; i++) m.d[i] = a[i]; }
> void inside() { matrix m; for (int i = 0; i < 100; i++) m.d[i] = a[i]; }
> void parts() { for (int i = 0; i < 100; i++) { auto [x, y] = pairs[i]; a[i] = x + y; } }
> END
$ sed -i '1i #include <new>' stored.cc; count stored.cc
listed:3 the pointer v.p is loaded from memory
none:4 200 26
placed:5 the address of what is made here is not known
method:6 200 13
built:8 200 26
around:9 the pointer m.d is loaded from memory
inside:10 the pointer m.d is loaded from memory
parts:11 a declaration that is not supported

# A call outside of loops whose function has loops: they are loops of that function.
$ cat > before.c <<'END'
> double a[100];
> static double sum(double *p, int n) { double s = 0; for (int i = 0; i < 100; i++) s += p[i] / n; return s; }
> static int first(double *p) { int k = 3; if (p[0] > 0) k = 7; return k; }
> void user(void) { double s = sum(a, 100); for (int i = 0; i < 100; i++) a[i] /= s; }
> void bound(void) { int n = first(a); for (int i = 0; i < n; i++) a[i] = 1; }
> END
$ count before.c
sum:2 100 13
user:4 200 13
bound:5 loop left out: bound is not affine: k depends on data at line 3

# Two variables that the condition compares and that both move: exact where their steps are, in for, while and do loops.
$ cat > together.c <<'END'
> double a[64], b[64], m[64][64]; char c[200];
> void reverse(int n) { for (int i = 0, j = n - 1; i < j; i++, j--) { double t = a[i]; a[i] = a[j]; a[j] = t; } }
> void pointers(void) { double *p = a, *q = a + 63; while (p < q) { double t = *p; *p++ = *q; *q-- = t; } }
> void meet(void) { for (double *p = a, *q = a + 64; p != q; p++, q--) *p = *(q - 1); }
> void miss(void) { for (double *p = a, *q = a + 63; p != q; p++, q--) *p = *(q - 1); }
> void sum(void) { for (int i = 0, j = 10; i + j < 40; i++, j += 2) a[i] = b[j]; }
> void both(void) { for (int i = 0, j = 30; i < 20 && j > 3; i++, j -= 3) a[i] = a[j]; }
> void nested(int n) { for (int k = 0; k < n; k++) for (int i = 0, j = k; i < j; i++, j--) m[i][j] = m[j][i]; }
> void least(void) { for (unsigned i = 0, j = 5; i < j; i++, j--) a[i] = a[j]; }
> void wraps(unsigned n) { for (unsigned i = 0, j = n; i <= j; i++, j--) a[i] = a[j]; }
> void narrow(void) { for (unsigned char i = 0, j = 200; i < j; i += 3, j += 2) c[i % 100] = c[j % 100]; }
> void once(void) { int i = 0, j = 63; do { a[i] = a[j]; i++; j--; } while (i < j); for (int k = 0; k < i; k++) b[k] = 1; }
> void uneven(void) { int i = 0, j = 63; while (i < j) { a[i] = a[j]; i++; if (i == 5) j -= 2; else j--; } }
> void changed(void) { for (int i = 0, j = 63; i < j; i++, j--) { a[i] = a[j]; j -= 1; } }
> void apart(void) { for (int i = 0, j = 9; i < j; i++, j++) a[i % 64] = 1; }
> void effect(void) { int i = 0, j = 63; while (i++ < j--) a[i] = a[j]; }
> void end(void) { for (int i = 0, n = 20; i < n; i++) a[i] = 1; }
> void first(void) { int i = 50, j; for (i = 0, j = i; i < 8; i++, j++) a[j] = b[0]; }
> END
$ count together.c --set n=50
reverse:2 100 7
pointers:3 128 8
meet:4 64 8
miss:5 loop left out: with != the loop may not end
sum:6 20 5
both:7 18 4
nested:8 1250 182
least:9 6 1
wraps:10 52 7
narrow:11 loop left out: bound is not affine: it may be too large for its type
once:12 64 8
once:12.2 32 4
uneven:13 loop left out: j does not change by the same step in every iteration
changed:14 loop left out: j is changed in the loop
apart:15 loop left out: the steps lead away from the bound
effect:16 a while loop whose trip count is not known: the condition changes one of several variables that move; only for loops inside it are analysed
end:17 20 3
first:18 16 2
$ count together.c --function wraps --set n=0
wraps:10 loop left out: bound is not affine: it may be negative in an unsigned type

# An array that is firstprivate is copied for each thread, as those that are copied back are not; a copy of a pointer points to the same memory.
$ cat > copies.c <<'END'
> double a[64], b[64];
> void pointer(double *p) {
> #pragma omp parallel for firstprivate(p)
>     for (int i = 0; i < 64; i++)
>         for (int j = 0; j < 64; j++) p[j] += 1;
> }
> void first(void) {
> #pragma omp parallel for firstprivate(b)
>     for (int i = 0; i < 64; i++) a[i] = b[i];
> }
> void last(void) {
> #pragma omp parallel for lastprivate(b)
>     for (int i = 0; i < 64; i++) b[i & 7] = a[i];
> }
> void reduced(void) {
> #pragma omp parallel for reduction(+ : b)
>     for (int i = 0; i < 64; i++) b[i & 7] += a[i];
> }
> END
$ count copies.c
pointer:4 8192 8
first:9 256 24
last:13 the copies of b for each thread are not supported
reduced:17 the copies of b for each thread are not supported
$ reusescope loops copies.c -t 4 -q --format json -o - | grep -o '"executed":[0-9]*,"distinct":[0-9]*,"mrc'
"executed":8192,"distinct":8,"mrc
"executed":640,"distinct":48,"mrc

# Expressions that libclang does not tell apart are refused, unless they are constants; designators are not among them.
$ cat > unexposed.c <<'END'
> #include <stddef.h>
> double a[64], b[64], c[64]; int k[64]; struct pair { double x, y; } p[64]; double *g; extern void outside(void);
> void elvis(void) { for (int i = 0; i < 64; i++) a[i] = b[i] ?: 3; }
> void atomics(void) { for (int i = 0; i < 64; i++) __atomic_fetch_add(&k[i], 1, __ATOMIC_RELAXED); }
> void chosen(void) { for (int i = 0; i < 64; i++) a[i] = __builtin_choose_expr(1, b[i], c[i]); }
> void type(void) { for (int i = 0; i < 64; i++) a[i] = __builtin_types_compatible_p(__typeof__(b[i]), double); }
> void offset(void) { for (int i = 0; i < 64; i++) a[offsetof(struct pair, y)] = 1; }
> void named(void) { for (int i = 0; i < 64; i++) p[i] = (struct pair){.y = a[i], .x = b[i]}; }
> void later(void) { for (int i = 0, j; i < 32; i++) { j = 2 * i; a[j] = 1; } }
> void back(void) { int n = 10; again: for (int i = 0; i < n; i++) a[i] = 1; if (--n > 5) goto again; }
> void changed(void) { g = a; outside(); for (int i = 0; i < 64; i++) g[i] = a[i]; }
> END
$ count unexposed.c
elvis:3 an expression that is not supported
atomics:4 an expression that is not supported
chosen:5 an expression that is not supported
type:6 64 8
offset:7 64 1
named:8 192 32
later:9 32 8
back:10 a loop that goto makes; only for loops inside it are analysed
back:10.2 loop left out: bound is not affine: n changes before a goto at line 10
changed:11 g may change in a call

# A variable that a reference refers to may change through it; names of structured bindings are not followed.
$ cat > refers.cc <<'END'
> double a[64], b[64]; struct pair { double x, y; } pairs[64];
> void number() { int k = 3; int &r = k; r = 10; for (int i = 0; i < k; i++) a[i] = 1; }
> void pointer() { double *p = a; double *&r = p; r = b; for (int i = 0; i < 64; i++) p[i] = b[i]; }
> void element() { double &x = a[3]; for (int i = 0; i < 64; i++) x += b[i]; }
> void outside() { auto &[x, y] = pairs[0]; for (int i = 0; i < 64; i++) a[i] = x; }
> END
$ count refers.cc
number:2 loop left out: bound is not affine: k may change through its address (--set k=NUMBER gives it)
pointer:3 p may change through its address
element:4 192 9
outside:5 a name of a structured binding

# A function in a condition: what it returns is exact, also a truth value; what it accesses in a loop's header is refused.
$ cat > predicate.c <<'END'
> double x[64], n[8];
> static int inside(int i) { return i >= 2 && i < 9; }
> static int odd(int i) { return i % 2 != 0; }
> static int none(int i) { return !(i > 3); }
> static int positive(int i) { return x[i] > 0; }
> static int limit(void) { n[0]++; return 10; }
> void both(void) { for (int i = 0; i < 12; i++) if (inside(i) && !odd(i)) x[i] = 1; }
> void index(void) { for (int i = 0; i < 12; i++) x[8 * none(i)] = inside(i); }
> void value(void) { for (int i = 0; i < 12; i++) n[1] += positive(i); }
> void bound(void) { for (int i = 0; i < limit(); i++) x[i] = 1; }
> void again(void) { int i = 0; while (i < limit()) x[i++] = 1; }
> void start(void) { for (int i = limit(); i < 20; i++) x[i] = 1; }
> END
$ count predicate.c
both:7 4 2
index:8 12 2
value:9 36 3
bound:10 loop left out: its condition or step accesses memory in every iteration
again:11 a while loop whose trip count is not known: its condition accesses memory in every iteration; only for loops inside it are analysed
start:12 12 3

# Buffers that a loop exchanges: the same curve as the source that names them. Exchanged on a condition: refused.
$ cat > rotate.h <<'END'
> enum { N = 1000 };
> double x[N], y[N], z[N], two[2][N], rows[50][64], other[50][64];
> #define SUM(to, from) for (int i = 1; i < N - 1; i++) to[i] = from[i - 1] + from[i + 1]
> #define ROWS(to, from) for (int i = 0; i < 50; i++) for (int j = 0; j < 64; j++) to[i][j] = from[i][j]
> END
$ cat > rotate.c <<'END'
> #include "rotate.h"
> void pair(void) { double *a = x, *b = y, *c; for (int t = 0; t < 7; t++) { SUM(b, a); c = a; a = b; b = c; } }
> void three(void) { double *a = x, *b = y, *c = z; for (int t = 30; t > 0; t -= 3) { SUM(b, a); SUM(c, b); double *d = a; a = b; b = c; c = d; } }
> void after(void) { double *a = x, *b = y; for (int k = 0; k < 2; k++) { for (int t = 0; t < 3; t++) { SUM(b, a); double *c = a; a = b; b = c; } for (int i = 0; i < N; i++) a[i] = 1; } }
> static void step(double *to, const double *from) { SUM(to, from); }
> void called(void) { double *a = x, *b = y; int t = 0; while (t < 7) { step(b, a); double *c = a; a = b; b = c; t += 2; } }
> void number(void) { int now = 0; for (int t = 0; t < 5; t++) { SUM(two[1 - now], two[now]); now = 1 - now; } }
> void shaped(void) { double (*a)[64] = rows, (*b)[64] = other; for (int t = 0; t < 5; t++) { ROWS(b, a); double (*c)[64] = a; a = b; b = c; } }
> void shared(void) {
>     double *a = x, *b = y;
>     for (int t = 0; t < 6; t++) {
> #pragma omp parallel for
>         SUM(b, a);
>         double *c = a; a = b; b = c;
>     }
> }
> END
$ cat > named.c <<'END'
> #include "rotate.h"
> void pair(void) { for (int t = 0; t < 7; t++) if (t % 2) { SUM(x, y); } else { SUM(y, x); } }
> void three(void) { for (int t = 0; t < 10; t++) if (t % 3 == 0) { SUM(y, x); SUM(z, y); } else if (t % 3 == 1) { SUM(z, y); SUM(x, z); } else { SUM(x, z); SUM(y, x); } }
> void after(void) { for (int k = 0; k < 2; k++) { for (int t = 0; t < 3; t++) if ((t + k) % 2) { SUM(x, y); } else { SUM(y, x); } if (k) for (int i = 0; i < N; i++) x[i] = 1; else for (int i = 0; i < N; i++) y[i] = 1; } }
> static void step(double *to, const double *from) { SUM(to, from); }
> void called(void) { for (int t = 0; t < 4; t++) if (t % 2) { SUM(x, y); } else { SUM(y, x); } }
> void number(void) { for (int t = 0; t < 5; t++) SUM(two[1 - t % 2], two[t % 2]); }
> void shaped(void) { for (int t = 0; t < 5; t++) if (t % 2) { ROWS(rows, other); } else { ROWS(other, rows); } }
> void shared(void) {
>     for (int t = 0; t < 6; t++)
>         if (t % 2) {
> #pragma omp parallel for
>             SUM(x, y);
>         } else {
> #pragma omp parallel for
>             SUM(y, x);
>         }
> }
> END
$ cat > curves.py <<'END'
> import json, sys
> for loop in json.load(sys.stdin)["loops"]: print(loop["name"].split(":")[0], loop["references"], loop["distinct"], [[round(at["miss_ratio"], 3) for at in threads["mrc"]] for threads in loop["threads"]])
> END
$ curves() { reusescope loops "$1" -t 1,4 --interleave lockstep --samples 1000000 -q --format json -o - | /usr/bin/python3 curves.py; }
$ curves rotate.c > rotate.txt; curves named.c > named.txt; diff rotate.txt named.txt && cut -d' ' -f1-3 rotate.txt
pair 20958 250
three 59880 375
after 19964 250
step 2994 250
called 11976 250
number 14970 250
shaped 32000 800
shared 17964 250
$ cat > unsure.c <<'END'
> #include "rotate.h"
> void unsure(void) { double *a = x, *b = y; for (int t = 0; t < 9; t++) { SUM(b, a); if (t > 5) { double *c = a; a = b; b = c; } } }
> void by_data(void) { double *a = x, *b = y; for (int t = 0; t < 9; t++) { SUM(b, a); if (z[t] > 5) { double *c = a; a = b; b = c; } } }
> void lost(void) { double *a = x, *b = y; for (int t = 0; t < 9; t++) { SUM(b, a); a = b; } }
> END
$ count unsure.c
unsure:2 a changes in the loop at line 2
by_data:3 a changes in the loop at line 3
lost:4 a changes in the loop at line 4

# posix_memalign() gives its pointer new memory; other pointers keep the old. Through a pointer to it, or in a loop: refused.
$ cat > aligned.c <<'END'
> #include <stdlib.h>
> enum { N = 1000, BYTES = 8 * N };
> void two(void) { double *a, *b = 0; int e = posix_memalign((void **)&a, 64, BYTES); e |= posix_memalign((void **)&b, 64, BYTES); if (e) abort(); for (int i = 0; i < N; i++) a[i] = b[i]; }
> int checked(void) { double *a; if (posix_memalign((void **)&a, 64, BYTES)) return 1; for (int t = 0; t < 9; t++) for (int i = 0; i < N; i++) a[i] += 1; return 0; }
> void copied(void) { double *a; posix_memalign((void **)&a, 64, BYTES); double *b = a; for (int i = 0; i < N; i++) a[i] = b[i]; }
> void replaced(void) { double *a; posix_memalign((void **)&a, 64, BYTES); double *b = a; posix_memalign((void **)&a, 64, BYTES); for (int i = 0; i < N; i++) a[i] = b[i]; }
> struct grid { double *p; };
> void member(void) { struct grid g; posix_memalign((void **)&g.p, 64, BYTES); for (int i = 0; i < N; i++) g.p[i] += 1; }
> static double *fresh(int n) { void *p; return posix_memalign(&p, 64, n * 8) ? 0 : p; }
> void returned(void) { double *a = fresh(N), *b = fresh(N); for (int i = 0; i < N; i++) a[i] = b[i]; }
> void pointed(void) { double *a; posix_memalign((void **)&a, 64, BYTES); double **q = &a; *q += 3; for (int i = 0; i < N; i++) a[i] = 1; }
> void inside(void) { for (int t = 0; t < 3; t++) { double *a; posix_memalign((void **)&a, 64, BYTES); for (int i = 0; i < N; i++) a[i] = 1; free(a); } }
> END
$ count aligned.c
two:3 2000 250
checked:4 18000 125
copied:5 2000 125
replaced:6 2000 250
member:8 2000 125
returned:10 2000 250
pointed:11 a may change through its address
inside:12 a call of posix_memalign, whose body is not in the source

# Two names of one block are one array: p = q = malloc(), and a block that a global keeps. A structure of an unknown place is no
# array at all; a while loop whose bound the data changes has no known length.
$ cat > names.c <<'END'
> #include <stdlib.h>
> enum { N = 1000 };
> void both(void) { double *p, *q; p = q = malloc(8 * N); for (int i = 0; i < N; i++) p[i] = q[i]; }
> static double *cache;
> static double *make(void) { double *p = malloc(8 * N); cache = p; return p; }
> void kept(void) { double *p = make(); for (int i = 0; i < N; i++) p[i] = cache[i]; }
> static double *plain(void) { double *p = malloc(8 * N); return p; }
> void apart(void) { double *p = plain(), *q = plain(); for (int i = 0; i < N; i++) p[i] = q[i]; }
> END
$ cat > nodes.c <<'END'
> struct node { struct node *next; double v; };
> struct node *find(int);
> void linked(void) { struct node *n = find(1); static double a[512], b[512]; n->next = find(2); for (int i = 0; i < 512; i++) a[i] = b[i]; }
> void shrinking(double *a, double *b) { int i = 0, j = 63; while (i < j) { a[i] = 0; i++; if (b[i] > 0) j--; } }
> END
$ count names.c; count nodes.c
both:3 2000 125
kept:6 2000 125
apart:8 2000 250
linked:3 1024 128
shrinking:4 a while loop whose trip count is not known: j, a bound or step of the loop, is changed in the loop; only for loops inside it are analysed

# A user's own function that has the name of a known one is the user's code: in the source, a method, in a namespace, or with
# other parameters.
$ cat > own.c <<'END'
> double a[100], b[100];
> static double sqrt(double x) { b[0] += x; return x; }
> static void _mm_prefetch(double *p, int hint) { *p = hint; }
> static int expect(int x, int y) { return y; }
> static int posix_memalign(void **p, unsigned long n, unsigned long bytes) { *p = b; return 0; }
> static int omp_get_thread_num(void) { return 3; }
> extern double hypot(double *p); extern void exit(double *p); extern int max(int *p, int *q); extern int keys[9];
> void root(void) { for (int i = 0; i < 50; i++) a[i] = sqrt(i); }
> void fetch(void) { for (int i = 0; i < 50; i++) _mm_prefetch(&a[i], 3); }
> void second(void) { for (int i = 0; i < 50; i++) a[expect(i, 2)] = 1; }
> void memory(void) { double *p = a; posix_memalign((void **)&p, 64, 800); for (int i = 0; i < 50; i++) p[i] = b[i]; }
> void pointers(void) { for (int i = 0; i < 50; i++) a[i] = hypot(b); }
> void ends(void) { for (int i = 0; i < 50; i++) { if (b[i] > 3) exit(b); a[i] = 1; } }
> void larger(void) { for (int i = 0; i < 50; i++) a[max(keys, keys)] = 1; }
> void number(void) {
> #pragma omp parallel num_threads(4)
>     for (int i = 0; i < 10; i++) a[i + 10 * omp_get_thread_num()] = 1;
> }
> END
$ cat > own.cc <<'END'
> double a[100], b[100];
> struct math { static double sin(double x) { b[0] = x; return x; } double cos(double x) { b[0] = x; return x; } void exit(int); };
> namespace my { double sqrt(double x); void abort(); }
> void fixed() { for (int i = 0; i < 50; i++) a[i] = math::sin(i); }
> void method(math &m) { for (int i = 0; i < 50; i++) a[i] = m.cos(i); }
> void space() { for (int i = 0; i < 50; i++) a[i] = my::sqrt(i); }
> void ends() { for (int i = 0; i < 50; i++) { if (b[i] > 3) my::abort(); a[i] = 1; } }
> void leaves(math &m) { for (int i = 0; i < 50; i++) { if (b[i] > 3) m.exit(1); a[i] = 1; } }
> END
$ count own.c; count own.cc
root:8 150 8
fetch:9 50 7
second:10 50 1
memory:11 p may change through its address
pointers:12 a call of hypot, whose body is not in the source
ends:13 a call of exit, whose body is not in the source
larger:14 a call of max, whose body is not in the source
number:17 10 2
fixed:4 100 8
method:5 100 8
space:6 a call of sqrt, whose body is not in the source
ends:7 a call of abort, whose body is not in the source
leaves:8 a call of the method exit, which is not followed

# An address as a number moves by bytes.
$ cat > address.c <<'END'
> #include <stdint.h>
> double a[100];
> void up(void) { for (int i = 0; i < 12; i++) *(double *)((uintptr_t)a + 8 * i) = 1; }
> void down(void) { for (int i = 0; i < 12; i++) *(double *)((long)&a[11] - 8 * i) = 1; }
> void same(void) { for (int i = 0; i < 12; i++) ((double *)(uintptr_t)a)[i] = 1; }
> void bytes(void) { for (int i = 0; i < 12; i++) *(double *)((char *)a + 8 * i) = 1; }
> void part(void) { for (int i = 0; i < 12; i++) ((double *)(long)(int)(long)a)[i] = 1; }
> void bits(void) { for (int i = 0; i < 12; i++) a[((uintptr_t)&a[i] & 63) / 8] = ((uintptr_t)a >> 3) + (uintptr_t)a % 64; }
> END
$ count address.c
up:3 12 2
down:4 12 2
same:5 12 2
bytes:6 12 2
part:7 a part of an address
bits:8 subscript ((uintptr_t)&a[i] & 63) / 8 is not affine: bits of an address

# A call that is not followed may change variables of namespaces, of extern "C" and static members as it may change globals.
$ cat > outside.cc <<'END'
> double a[100]; extern void outside(); struct counter { void add(); };
> namespace deep { int n; double *p; namespace inner { int n; } } namespace { int hidden; } extern "C" { int c; double *q; }
> struct holder { static int n; static double *p; }; int holder::n; double *holder::p;
> void number() { deep::n = 10; outside(); for (int i = 0; i < deep::n; i++) a[i] = 1; }
> void nested() { deep::inner::n = 10; outside(); for (int i = 0; i < deep::inner::n; i++) a[i] = 1; }
> void unnamed() { hidden = 10; outside(); for (int i = 0; i < hidden; i++) a[i] = 1; }
> void linkage() { c = 10; outside(); for (int i = 0; i < c; i++) a[i] = 1; }
> void member() { holder::n = 10; outside(); for (int i = 0; i < holder::n; i++) a[i] = 1; }
> void method(counter &k) { deep::n = 10; k.add(); for (int i = 0; i < deep::n; i++) a[i] = 1; }
> void pointer() { deep::p = a; outside(); for (int i = 0; i < 10; i++) deep::p[i] = a[i]; }
> void linked() { q = a; outside(); for (int i = 0; i < 10; i++) q[i] = a[i]; }
> void held() { holder::p = a; outside(); for (int i = 0; i < 10; i++) holder::p[i] = a[i]; }
> void own() { int n = 10; double *p = a; outside(); for (int i = 0; i < n; i++) p[i] = a[i]; }
> END
$ count outside.cc
number:4 loop left out: bound is not affine: n may change in a call
nested:5 loop left out: bound is not affine: n may change in a call
unnamed:6 loop left out: bound is not affine: hidden may change in a call
linkage:7 loop left out: bound is not affine: c may change in a call
member:8 loop left out: bound is not affine: n may change in a call
method:9 loop left out: bound is not affine: n may change in a call
pointer:10 p may change in a call
linked:11 q may change in a call
held:12 p may change in a call
own:13 20 2

# Unsigned numbers wrap: where they may, comparisons, minima, quotients and remainders are refused, unless 2^64 does not matter.
$ cat > wrap.c <<'END'
> typedef unsigned long size;
> #define MIN(x, y) ((x) < (y) ? (x) : (y))
> #define LEAST(x, y) ({ __typeof__(x) _x = (x); __typeof__(y) _y = (y); _x < _y ? _x : _y; })
> double a[200];
> static size lower(size x, size y) { return x < y ? x : y; }
> void fourth(void) { for (size i = 0; i < 10; i++) if ((i - 5) % 4 == 1) a[i] = 1; }
> void signs(void) { for (long i = 0; i < 10; i++) if ((i - 5) % 4 == 1) a[i] = 1; }
> void third(void) { for (size i = 0; i < 10; i++) if ((i - 5) % 3 == 0) a[i] = 1; }
> void macro(void) { for (size i = 0; i < 10; i++) a[MIN(i - 5, 20)] = 1; }
> void block(void) { for (size i = 0; i < 10; i++) a[LEAST(i - 5, 20)] = 1; }
> void called(void) { for (size i = 0; i < 10; i++) a[lower(i - 5, 20)] = 1; }
> void mixed(void) { for (int i = 0; i < 10; i++) for (unsigned j = MIN(i - 5, 3u); j < 3; j++) a[j] = 1; }
> void start(void) { size i = 0, last = i - 1; for (size k = 0; k < MIN(last, 10); k++) a[k] = 1; }
> void half(void) { for (int i = 0; i < 10; i++) { int j = i - 5; j /= 2u; a[j & 127] = 1; } }
> void rest(void) { for (int i = 0; i < 10; i++) { int j = i - 5; j %= 3u; a[j] = 1; } }
> void wider(void) { for (int i = 0; i < 10; i++) { long j = i - 5; j %= 3u; a[j + 5] = 1; } }
> void large(void) { for (size i = 0; i < 10; i++) a[i / (size)-2] = 1; }
> void plain(void) { for (size i = 1; i < 10; i++) a[MIN(i - 1, 4)] = a[(i - 1) / 2] + a[(i - 1) % 3]; }
> void down(size n) { for (size i = n; i-- > 0;) a[i] = 1; }
> END
$ count wrap.c --set n=10
fourth:6 2 1
signs:7 1 1
third:8 whether this runs is not affine: an unsigned number could be negative (--taken 8=PERCENT assumes how often)
macro:9 subscript ((i - 5) < (20) ? (i - 5) : (20)) is not affine: an unsigned number could be negative
block:10 subscript ({ __typeof__(i - 5) _x = (i - 5); __typeof__(20)  is not affine: an unsigned number could be negative
called:11 subscript lower(i - 5, 20) is not affine: an unsigned number could be negative
mixed:12 loop left out: first value is not affine: an unsigned number could be negative
start:13 loop left out: bound is not affine: an unsigned number could be negative
half:14 subscript j & 127 is not affine: an unsigned number could be negative
rest:15 subscript j is not affine: an unsigned number could be negative
wider:16 10 1
large:17 subscript i / (size)-2 is not affine: an unsigned number could be negative
plain:18 27 1
down:19 10 2
$ count wrap.c --set n=0 --function down
down:19 0 0

# A condition without data that is not affine is not assumed to hold in a share of the iterations, unless its line has one.
$ cat > square.c <<'END'
> #include <math.h>
> double a[100], b[100]; int k[100];
> void product(void) { for (int i = 0; i < 10; i++) if (i * i < 50) a[i] = 1; }
> void kept(void) { for (int i = 0; i < 10; i++) { int j = i * i; if (j < 50) a[i] = 1; } }
> void real(void) { for (int i = 0; i < 10; i++) if (i * 0.5 < 3) a[i] = 1; }
> void bits(void) { for (int i = 0; i < 10; i++) if (i & 4) a[i] = 1; }
> void inverse(void) { for (unsigned i = 0; i < 10; i++) if (~i < 3) a[i] = 1; }
> void root(void) { for (int i = 0; i < 10; i++) if (sqrt(i) < 2) a[i] = 1; }
> void side(void) { for (int i = 0; i < 10; i++) a[i] = i * i < 50 ? b[i] : b[0]; }
> void rest(void) { for (int i = 0; i < 10; i++) { if (i * i < 50) continue; a[i] = 1; } }
> void data(void) { for (int i = 0; i < 10; i++) if ((k[i] & 3) * i < 9) a[i] = 1; }
> void value(void) { for (int i = 0; i < 10; i++) if (sqrt(b[i]) < 2) a[i] = 1; }
> END
$ count square.c
product:3 whether this runs is not affine: a product of two variables is not affine (--taken 3=PERCENT assumes how often)
kept:4 whether this runs is not affine: a product of two variables is not affine (--taken 4=PERCENT assumes how often)
real:5 whether this runs is not affine: floating-point arithmetic (--taken 5=PERCENT assumes how often)
bits:6 whether this runs is not affine: bits of a variable (--taken 6=PERCENT assumes how often)
inverse:7 whether this runs is not affine: an operation that is not affine (--taken 7=PERCENT assumes how often)
root:8 whether this runs is not affine: the result of sqrt is not known (--taken 8=PERCENT assumes how often)
side:9 which side is read is not affine: a product of two variables is not affine (--taken 9=PERCENT assumes how often)
rest:10 whether the rest of the iteration runs is not affine: a product of two variables is not affine (--taken 10=PERCENT assumes how often)
data:11 15 3
value:12 15 4
$ count square.c --taken 3=70 --function product
product:3 7 2

# A name in a directive means the declaration that is visible there, not another variable of that name.
$ cat > scope.c <<'END'
> #define CHUNK 3
> double a[64], x[64]; static double tmp[8], keep[8]; enum { FOUR = 4 }; const int five = 5;
> #pragma omp threadprivate(keep)
> void macro(void) {
> #pragma omp parallel for schedule(static, CHUNK)
>     for (int i = 0; i < 64; i++) a[i] = 1;
> }
> void shadow(void) {
>     int c = 2;
>     { int c = 7; c++; }
> #pragma omp parallel for schedule(static, c)
>     for (int i = 0; i < 64; i++) a[i] = 1;
> }
> void constants(void) {
> #pragma omp parallel for schedule(static, FOUR) num_threads(five)
>     for (int i = 0; i < 64; i++) a[i] = 1;
> }
> void other(void) { int k = 9; k++; }
> void unknown(int k) {
>     { int k = 6; k++; }
> #pragma omp parallel for schedule(static, k)
>     for (int i = 0; i < 64; i++) a[i] = 1;
> }
> static void use(void) { for (int j = 0; j < 8; j++) tmp[j] += 1; }
> void file(void) {
>     double tmp[8];
> #pragma omp parallel for private(tmp)
>     for (int i = 0; i < 64; i++) { use(); tmp[0] = 1; }
> }
> void local(void) {
>     static double keep[8];
> #pragma omp parallel for
>     for (int i = 0; i < 64; i++) keep[i % 8] = 1;
> }
> void inner(void) {
>     double x[8];
> #pragma omp parallel private(x)
>     {
>         extern double x[64];
> #pragma omp for
>         for (int i = 0; i < 64; i++) x[i] = a[i];
>     }
> }
> END
$ reusescope loops scope.c -q --emit-ir | grep 'array\|static\|threads\|without'
array a 8 [64]
array x 8 [64]
array tmp 8 [8]
array keep 8 [8]
array file.tmp 8 [8] private
    for i = 0 to 63 share static 3 @6 {
    for i = 0 to 63 share static 2 @12 {
  parallel threads 5 @16 {
    for i = 0 to 63 share static 4 @16 {
  without @22 "loop left out: the schedule's chunk is not a positive number:  k" "for (int i = 0; i < 64; i++) a[i] = 1"
    for i = 0 to 63 share static @28 {
    for i = 0 to 63 share static @33 {
    for i = 0 to 63 share static @41 {
$ cat > scope.cc <<'END'
> double a[64];
> template <int N> void made(int m) {
>     const int half = N / 2;
> #pragma omp parallel for schedule(static, half) num_threads(m)
>     for (int i = 0; i < 64; i++) a[i] = 1;
> }
> static int m = 9, half = 9;
> void user() { m++; half++; made<6>(4); }
> END
$ reusescope loops scope.cc -q --emit-ir --set m=4 | grep 'static\|threads\|without'
  parallel threads 4 @5 {
    for i = 0 to 63 share static 3 @5 {
$ cat > members.cc <<'END'
> int threads = 5, part = 8, more = 9; double a[64];
> struct base { int more; };
> struct s : base { void in() {
> #pragma omp parallel for num_threads(threads)
>     for (int i = 0; i < 64; i++) a[i] = 1;
> } void out(); int threads; static const int fixed = 3; enum { FOUR = 4 }; union { int part; long other; }; };
> void s::out() {
> #pragma omp parallel for num_threads(fixed + FOUR)
>     for (int i = 0; i < 64; i++) a[i] = 1;
> #pragma omp parallel for num_threads(more)
>     for (int i = 0; i < 64; i++) a[i] = 1;
> #pragma omp parallel for num_threads(part)
>     for (int i = 0; i < 64; i++) a[i] = 1;
> }
> struct pair { int x, y; };
> void bound(pair p) {
>     const int n = 4; auto [m, k] = p;
>     {
>         auto [m, n] = p;
> #pragma omp parallel for num_threads(n)
>         for (int i = 0; i < 64; i++) a[i] = 1;
>     }
> #pragma omp parallel for num_threads(n)
>     for (int i = 0; i < 64; i++) a[i] = 1;
> }
> void counted() {
>     for (int n = 2; n < 3; n++) {
> #pragma omp parallel for num_threads(n)
>         for (int i = 0; i < 64; i++) a[i] = 1;
>     }
> }
> END
$ reusescope loops members.cc -q --emit-ir --set threads=2 --set n=6 | grep 'threads\|without'
  parallel threads 2 @5 {
  parallel threads 7 @9 {
  without @11 "num_threads(more): not a positive number" "for (int i = 0; i < 64; i++) a[i] = 1"
  without @13 "num_threads(part): not a positive number" "for (int i = 0; i < 64; i++) a[i] = 1"
  parallel threads 6 @21 {
  parallel threads 6 @24 {
    parallel threads 2 @29 {

# Thread numbers are followed where they alone split the work; the message says what is missing.
$ cat > number.c <<'END'
> #include <omp.h>
> double h[64][128], a[1024], part[64];
> void alone(void) {
> #pragma omp parallel
>     {
>         int t = omp_get_thread_num(), n = omp_get_num_threads();
>         for (int i = t; i < 1024; i += n) part[t] += a[i];
>     }
> }
> void beside(void) {
> #pragma omp parallel
>     {
>         int t = omp_get_thread_num();
> #pragma omp for
>         for (int i = 0; i < 1024; i++) h[t][i % 128] += a[i];
>     }
> }
> void within(void) {
> #pragma omp parallel for num_threads(4)
>     for (int i = 0; i < 1024; i++) part[omp_get_thread_num()] += a[i];
> }
> void team(void) {
> #pragma omp parallel
>     {
>         int n = omp_get_num_threads();
> #pragma omp for
>         for (int i = 0; i < 1024; i++) a[i / 64 + n] = 1;
>     }
> }
> END
$ count number.c
alone:5 loop left out: the step is not a number: the number of threads is not known (--set omp_get_num_threads=N gives it)
beside:12 subscript t is not affine: omp_get_thread_num() beside shared loops, single or barriers is not followed
within:20 subscript omp_get_thread_num() is not affine: omp_get_thread_num() beside shared loops, single or barriers is not followed
team:24 subscript i / 64 + n is not affine: the number of threads is not known (--set omp_get_num_threads=N gives it)
$ count number.c --set omp_get_num_threads=8
alone:5 3072 129
beside:12 subscript t is not affine: omp_get_thread_num() beside shared loops, single or barriers is not followed
within:20 subscript omp_get_thread_num() is not affine: omp_get_thread_num() beside shared loops, single or barriers is not followed
team:24 1024 2

# Directives that transform a shared loop are refused, cancel is taken to do nothing, unroll and taskwait change nothing.
$ cat > transformed.c <<'END'
> double a[64], b[64], m[64][64];
> void tiled(void) {
> #pragma omp parallel for
> #pragma omp tile sizes(8, 8)
>     for (int i = 0; i < 64; i++)
>         for (int j = 0; j < 64; j++) m[i][j] += m[j][i];
> }
> void unrolled(void) {
> #pragma omp parallel
> #pragma omp for schedule(static, 2)
> #pragma omp unroll partial(4)
>     for (int i = 0; i < 64; i++) a[i] = 1;
> }
> void serial(void) {
> #pragma omp parallel for if (0)
> #pragma omp tile sizes(4)
>     for (int i = 0; i < 64; i++) a[i] = 1;
> }
> void alone(void) {
> #pragma omp unroll partial(4)
>     for (int i = 0; i < 64; i++) a[i] = 1;
> #pragma omp taskwait
>     for (int i = 0; i < 32; i++) a[i] = 1;
> }
> void ended(void) {
> #pragma omp parallel for
>     for (int i = 0; i < 64; i++) {
>         a[i] = b[i];
> #pragma omp cancel for if (b[i] > 0)
>     }
> }
> void inside(void) {
> #pragma omp parallel for
>     for (int i = 0; i < 64; i++)
>         if (a[i] > 0) {
> #pragma omp cancel for
>         }
> }
> END
$ count transformed.c
tiled:5 #pragma omp tile sizes(8, 8) of a shared loop is not supported
unrolled:12 #pragma omp unroll partial(4) of a shared loop is not supported
serial:17 #pragma omp tile sizes(4) of a shared loop is not supported
alone:21 64 8
alone:23 32 4
ended:27 #pragma omp cancel with a condition is not supported
inside:34 64 8
$ reusescope loops transformed.c --emit-ir -q | grep assume
  assume @34 "cancel: taken to do nothing, as without OMP_CANCELLATION=true" "for (int i = 0; i < 64; i++) if (a[i] > 0) { }"

# Parts of complex numbers are read as the functions for them do.
$ cat > complex.c <<'END'
> #include <complex.h>
> double a[64]; double _Complex z[64];
> void parts(void) { for (int i = 0; i < 64; i++) a[i] = creal(z[i]) + cabs(conj(z[i])); }
> END
$ count complex.c
parts:3 192 24

# A comparison as a number is 1 or 0; a difference of pointers into one array is a number.
$ cat > truth.c <<'END'
> double a[1000], b[1000], m[64][64];
> void parts(void) { int chunk = 100 / 3, rest = 100 % 3; for (int r = 0; r < 3; r++) { int s = r * chunk + (r < rest ? r : rest), e = s + chunk + (r < rest); for (int i = s; i < e; i++) a[i] = r; } }
> void more(void) { for (int i = 0; i < 64; i++) a[2 * i + (i > 5)] = 1; }
> void equal(void) { for (int i = 0; i < 64; i++) for (int j = 0; j < 64; j++) m[i][j] = a[4 * (i == j) + 64 * (i <= j)] + b[8 * (i != 7)]; }
> void kept(void) { for (int i = 0; i < 64; i++) { int late = i >= 32; if (late) a[i] = 1; else b[i + 1] = 1; } }
> void sign(void) { for (int i = -10; i < 10; i++) a[8 + 8 * ((i > 0) - (i < 0))] = 1; }
> void wraps(void) { for (unsigned i = 0; i < 10; i++) a[8 * (i - 5 < 3)] = 1; }
> void data(void) { for (int i = 0; i < 10; i++) a[8 * (b[i] > 0)] = 1; }
> void bound(double *p) { double *end = p + 20; for (int i = 0; i < end - p; i++) p[i] = 1; }
> void index(double *p) { for (double *q = p; q < p + 20; q++) a[q - p] = *q; }
> void rows(void) { double (*r)[64] = m + 5; for (int i = 0; i < r - m; i++) a[i] = 1; }
> void other(double *p, double *end) { for (int i = 0; i < end - p; i++) p[i] = 1; }
> END
$ count truth.c
parts:2 100 13
more:3 64 16
equal:4 12288 516
kept:5 64 9
sign:6 20 3
wraps:7 subscript 8 * (i - 5 < 3) is not affine: a truth value is used as a number
data:8 subscript 8 * (b[i] > 0) is not affine: a truth value is used as a number
bound:9 20 3
index:10 40 6
rows:11 5 1
other:12 loop left out: bound is not affine: a difference of pointers

# A loop that goto makes is reported; a jump forward makes none.
$ cat > back.c <<'END'
> double a[64], b[64];
> void single(void) { int i = 0; again: a[i] = 1; i++; if (i < 64) goto again; }
> void around(void) { int i = 0; again: for (int j = 0; j < 64; j++) a[j] = 1; b[i] = 1; i++; if (i < 64) goto again; for (int j = 0; j < 16; j++) b[j] = 1; }
> int error(int n) { if (n < 0) goto error; for (int i = 0; i < 64; i++) a[i] = 1; return 0; error: b[0] = 1; return 1; }
> int retry(void) { int n = 0; again: n++; if (n < 3) goto again; for (int i = 0; i < 20; i++) a[i] = 1; return n; }
> END
$ count back.c
single:2 a loop that goto makes; only for loops inside it are analysed
around:3 a loop that goto makes; only for loops inside it are analysed
around:3.2 64 8
around:3.3 16 2
error:4 64 8
retry:5 20 3

# Loops in statement expressions, and in lambdas that initial values call.
$ cat > hidden.cc <<'END'
> double a[64], b[64];
> static int first = [] { for (int i = 0; i < 11; i++) a[i] = 1; return 1; }();
> struct s { int n = [] { for (int i = 0; i < 12; i++) a[i] = 1; return 1; }(); };
> void declared() { int n = ({ int t = 0; for (int i = 0; i < 13; i++) { a[i] = 1; t++; } t; }); for (int i = 0; i < n; i++) b[i] = 1; }
> void chosen(int k) { k ? ({ for (int i = 0; i < 14; i++) a[i] = 1; 1; }) : 0; }
> int returned() { return ({ for (int i = 0; i < 15; i++) a[i] = 1; 3; }); }
> void condition() { if ([] { for (int i = 0; i < 16; i++) a[i] = 1; return 1; }()) b[0] = 1; }
> END
$ count hidden.cc
first:2 11 2
n:3 12 2
declared:4 13 2
declared:4.2 loop left out: bound is not affine: a statement in an expression
chosen:5 14 2
returned:6 15 2
condition:7 16 2

# Code that runs without a call: destructors, and what new and delete do, are not followed; constructors that set members neither.
$ cat > ends.cc <<'END'
> double a[64], b[64];
> struct last { double *p; ~last() { p[0] = 0; } }; struct inside { last l; int n; }; struct derived : last {}; template <class T> struct any { T *p; ~any() { p[0] = 0; } };
> struct plain { double x, y; ~plain() = default; }; struct set { double v[4] = {1, 2, 3, 4}; }; struct none { double v[4]; };
> static double use(last l) { return l.p[0]; } static last make() { return last{b}; } static last &kept(last *l) { return *l; }
> void variable() { for (int i = 0; i < 64; i++) { last l{b}; a[i] = 1; } }
> void member() { for (int i = 0; i < 64; i++) { inside l{{b}, 3}; a[i] = 1; } }
> void base() { for (int i = 0; i < 64; i++) { derived l{{b}}; a[i] = 1; } }
> void instance() { for (int i = 0; i < 64; i++) { any<double> l{b}; a[i] = 1; } }
> void temporary() { for (int i = 0; i < 64; i++) { last{b}; a[i] = 1; } }
> void array() { for (int i = 0; i < 64; i++) { last l[2] = {{b}, {b + 8}}; a[i] = 1; } }
> void passed() { for (int i = 0; i < 64; i++) a[i] = use({b}); }
> void result() { for (int i = 0; i < 64; i++) { make(); a[i] = 1; } }
> void condition() { for (int i = 0; i < 64; i++) if (last l{b}; i > 3) a[i] = 1; }
> void stays(last *l) { for (int i = 0; i < 64; i++) a[i] = l[3].p[i]; }
> void fixed() { for (int i = 0; i < 64; i++) { static last l{b}; a[i] = 1; } }
> void defaulted() { for (int i = 0; i < 64; i++) { plain l{1, 2}; a[i] = l.x; } }
> void made() { for (int i = 0; i < 64; i++) { double *p = new double[8](); a[i] = 1; } }
> void deleted(last **p) { for (int i = 0; i < 64; i++) { delete p[i]; a[i] = 1; } }
> void starts() { for (int i = 0; i < 64; i++) { set s; a[i] = s.v[0]; } }
> void empty() { for (int i = 0; i < 64; i++) { none s; a[i] = s.v[0]; } }
> END
$ count ends.cc
variable:5 the destructor of last, which is not followed
member:6 the destructor of inside, which is not followed
base:7 the destructor of derived, which is not followed
instance:8 the destructor of any<double>, which is not followed
temporary:9 the destructor of last, which is not followed
array:10 the destructor of last[2], which is not followed
passed:11 the destructor of last, which is not followed
result:12 the destructor of last, which is not followed
condition:13 the destructor of last, which is not followed
stays:14 128 16
fixed:15 64 8
defaulted:16 64 8
made:17 new in a loop is not followed
deleted:18 delete in a loop is not followed
starts:19 the initial values of s
empty:20 128 9

# Plain structures are copied in C++ as in C, also by value to a function and out of a range; std::swap exchanges scalars.
$ cat > plain.h <<'END'
> struct pair { double x, y; } p[64], q[64]; struct view { double *p; int n; } views[8]; double a[64], b[64];
> static double product(struct pair v) { return v.x * v.y; }
> static void fill(struct view v) { for (int i = 0; i < 64; i++) v.p[i] = a[i]; }
> void assigned(void) { for (int i = 0; i < 64; i++) p[i] = q[i]; }
> void declared(void) { for (int i = 0; i < 64; i++) { struct pair r = q[i], s; s = r; r.x += 1; p[i] = r; } }
> void passed(void) { for (int i = 0; i < 64; i++) a[i] = product(p[i]); }
> void pointer(struct view v) { for (int t = 0; t < 4; t++) fill(v); }
> END
$ cp plain.h copied.c; { cat plain.h; cat <<'END'; } > copied.cc
> #include <utility>
> #include <vector>
> template <int N> struct row { double v[N]; }; row<4> rows[64];
> void listed() { for (int i = 0; i < 64; i++) p[i] = {a[i], b[i]}; }
> void range() { for (auto v : p) a[0] += v.x; }
> void pointers() { for (auto v : views) for (int i = 0; i < 64; i++) v.p[i] = a[i]; }
> void instance() { for (int i = 0; i < 64; i++) { row<4> r = rows[i]; a[i] = r.v[i % 4]; } }
> void elements() { for (int i = 0; i < 32; i++) std::swap(a[i], a[63 - i]); }
> void buffers() { double *u = a, *v = b; for (int t = 0; t < 6; t++) { for (int i = 1; i < 63; i++) v[i] = u[i - 1]; std::swap(u, v); } }
> void vectors() { std::vector<double> u(64), v(64); double *r = u.data(); u.swap(v); for (int i = 0; i < 64; i++) u[i] = r[i]; }
> END
$ count copied.c
assigned:4 128 32
declared:5 128 32
passed:6 128 24
pointer:7 512 16
$ count copied.cc
assigned:4 128 32
declared:5 128 32
passed:6 128 24
pointer:7 512 16
listed:11 192 32
range:12 192 17
pointers:13 the pointer v.p is loaded from memory
instance:14 640 41
elements:15 128 8
buffers:16 744 16
vectors:17 r points to elements that were exchanged or replaced

# A structure whose size is no power of two is copied in words, which cross no lines.
$ cat > words.c <<'END'
> struct three { double x, y, z; } p[64], q[64]; struct color { float r, g, b; } c[64], d[64]; struct matrix { double m[4][4]; } m[16], n[16];
> static struct three sum(struct three a, struct three b) { struct three r = {a.x + b.x, a.y + b.y, a.z + b.z}; return r; }
> void copy(void) { for (int i = 0; i < 64; i++) p[i] = q[63 - i]; }
> void local(void) { for (int i = 0; i < 64; i++) { struct three v = q[i]; v.x += 1; p[i] = v; } }
> void called(void) { for (int i = 0; i < 64; i++) p[i] = sum(p[i], q[i]); }
> void floats(void) { for (int i = 0; i < 64; i++) c[i] = d[i]; }
> void large(void) { for (int i = 0; i < 16; i++) m[i] = n[15 - i]; }
> END
$ count words.c
copy:3 384 48
local:4 384 48
called:5 576 48
floats:6 384 24
large:7 512 64

# != with other steps than 1: exact if the bound is a multiple of the step away.
$ cat > unequal.c <<'END'
> double a[100], m[64][64];
> void up(void) { for (int i = 0; i != 64; i += 4) a[i] = 1; }
> void down(void) { for (int i = 64; i != 0; i -= 4) a[i] = 1; }
> void pointer(void) { for (double *p = a; p != a + 64; p += 8) *p = 1; }
> void nested(void) { for (int i = 0; i < 32; i++) for (int j = i; j != 3 * i; j += 2) m[i][j] = 1; }
> void passes(void) { for (int i = 0; i != 63; i += 4) a[i % 64] = 1; }
> void some(void) { for (int i = 0; i < 32; i++) for (int j = i; j != 3 * i; j += 4) m[i][j] = 1; }
> void stays(void) { for (int i = 0; i != 63; i += 0) a[i] = 1; }
> END
$ count unequal.c
up:2 16 8
down:3 16 9
pointer:4 8 8
nested:5 496 147
passes:6 loop left out: with != the steps may pass the bound
some:7 loop left out: with != the steps may pass the bound
stays:8 loop left out: the step is 0

# Methods, operators and functions that return references are part of the loop, with members of their object; not virtual ones.
$ cat > methods.cc <<'END'
> #include <vector>
> double a[4096], b[4096]; int counter;
> template <class T> struct matrix { std::vector<T> d; int m; T &operator()(int i, int j) { return d[i * m + j]; } const T &operator()(int i, int j) const { return d[i * m + j]; } };
> struct view { double *p; int ld; double &operator()(int i, int j) const { return p[i * ld + j]; } double *row(int i) { return p + i * ld; } };
> struct cells { double u[64]; static int id(int i, int j) { return i * 8 + j; } double get(int i, int j) const { return u[id(i, j)]; } void set(int i, int j, double v) { u[id(i, j)] = v; } cells &add(double v) { u[0] += v; return *this; } } c, d, e[4];
> struct vec { double x, y, z, w; vec operator+(const vec &o) const { return {x + o.x, y + o.y, z + o.z, w + o.w}; } vec &operator+=(const vec &o) { x += o.x; return *this; } } p[64], q[64];
> struct base { double v[16]; double &at(int i) { return v[i]; } virtual double late(int i) { return v[i]; } } f; struct count { int k; int next() { return k++; } void more() { counter++; } };
> struct solver { std::vector<double> u, v; int n; int id(int i, int j) const { return i * n + j; } void step() { for (int i = 1; i < 9; i++) for (int j = 0; j < n; j++) v[id(i, j)] = u[this->id(i - 1, j)]; } void run() { for (int t = 0; t < 4; t++) step(); } void whole() { for (int i = 0; i < 8; i++) u[(*this).id(i, 0)] = 1; } };
> static double &element(double *p, int i) { return p[2 * i]; } static double &pick(int i) { if (i < 32) return a[i]; return b[i]; }
> void transpose(matrix<double> &x, const matrix<double> &y) { for (int i = 0; i < 20; i++) for (int j = 0; j < 20; j++) x(i, j) += y(j, i); }
> void views(view v) { for (int i = 0; i < 20; i++) { double *r = v.row(i); for (int j = 0; j < 30; j++) r[j] = v(i, j); } }
> void objects() { for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) c.set(i, j, d.get(j, i)); }
> void elements(cells *s) { for (int k = 0; k < 4; k++) for (int j = 0; j < 8; j++) e[k].set(k, j, s[3 - k].get(j, k)); }
> void chained() { for (int i = 0; i < 8; i++) c.add(1).add(2); }
> void sums() { for (int i = 0; i < 64; i++) p[i] = p[i] + q[i]; for (int i = 0; i < 64; i++) p[i] += q[i]; }
> void late() { for (int i = 0; i < 16; i++) f.at(i) = 1; for (int i = 0; i < 16; i++) a[i] = f.late(i); }
> void returned() { for (int i = 0; i < 64; i++) element(a, i) = pick(i); }
> void counted(count k) { for (int i = 0; i < 8; i++) a[k.next()] = 1; counter = 0; for (int i = 0; i < 8; i++) { a[counter] = 1; k.more(); } for (int i = 0; i < counter; i++) a[i] = 1; }
> void lambda() { int k = 3; auto f = [=](int i) { return i + k; }; for (int i = 0; i < 8; i++) a[f(i)] = 1; }
> END
$ count methods.cc --set x.m=20 --set y.m=20 --set v.ld=64 --set n=12
run:8 768 25
whole:8 8 8
transpose:10 1200 100
views:11 1200 80
objects:12 128 16
elements:13 64 36
chained:14 32 1
sums:15 576 64
sums:15.2 192 64
late:16 16 3
late:16.2 a call of the method late, which is not followed
returned:17 128 20
counted:18 subscript k.next() is not affine: k changes
counted:18.2 8 1
counted:18.3 8 1
lambda:19 a call of the method operator(), which is not followed
$ count methods.cc --set x.m=20 --function transpose
transpose:10 subscript i * m + j is not affine: y.m is loaded from memory (--set 'y.m=NUMBER' gives it)

# What a reference refers to after assignments, commas and choices; a result that nothing uses is not read.
$ cat > results.cc <<'END'
> double a[64], b[64]; struct box { double v[64]; int k; double &at(int i) { return v[i]; } double &add(int i) { return v[i] += 1; } box &set(int i) { return (v[i] = 1, *this); } box &either(box &o, int i) { return i < 3 ? *this : o; } box &some(box *p) { return p[k]; } } c, d;
> void unused() { for (int i = 0; i < 64; i++) { c.at(i); a[i] = 1; } }
> void added() { for (int i = 0; i < 64; i++) c.add(i); for (int i = 0; i < 64; i++) b[i] = c.add(i); }
> void comma() { for (int i = 0; i < 64; i++) c.set(i); }
> void choice() { for (int i = 0; i < 64; i++) c.either(d, i).v[i] = 1; for (int i = 0; i < 64; i++) (i < 32 ? a[i] : b[i]) = 1; }
> void after() { for (int i = 0; i < 64; i++) (a[i] = b[i]) += 1; }
> void unknown(box *p) { for (int i = 0; i < 64; i++) { c.some(p); b[i] = 1; } }
> END
$ count results.cc
unused:2 64 8
added:3 128 8
added:3.2 256 16
comma:4 64 8
choice:5 64 9
choice:5.2 64 8
after:6 256 16
unknown:7 subscript k is not affine: c.k is loaded from memory (--set 'c.k=NUMBER' gives it)

# A structure passed by value has the pointers of the argument, unless the function changes it or passes it on by address.
$ cat > byvalue.c <<'END'
> struct grid { double *p, *q; int n, ld; }; double a[4096];
> static double at(struct grid g, int i, int j) { return g.p[i * g.ld + j]; }
> static void put(struct grid g, int i, double v) { g.q[i] = v; }
> static void outer(struct grid g, int i) { put(g, i, at(g, i, 0)); }
> static void moved(struct grid g, int n) { g.p += n; for (int i = 0; i < 8; i++) g.p[i] = 1; }
> static void pointed(struct grid g) { double **t = &g.p; *t = a; for (int i = 0; i < 8; i++) g.p[i] = 1; }
> void smooth(struct grid g) { for (int i = 1; i < 20; i++) for (int j = 0; j < 20; j++) put(g, 20 * i + j, at(g, i, j) + at(g, i - 1, j)); }
> void further(struct grid g) { for (int i = 0; i < 20; i++) outer(g, i); }
> void through(struct grid *h) { for (int i = 0; i < 20; i++) put(*h, i, 1); }
> void moves(struct grid g) { for (int t = 0; t < 4; t++) moved(g, t); }
> void points(struct grid g) { for (int t = 0; t < 4; t++) pointed(g); }
> void own(struct grid g) { for (int t = 0; t < 4; t++) { put(g, t, 1); g.q++; } }
> END
$ count byvalue.c --set g.ld=20
smooth:7 1140 98
further:8 40 23
through:9 80 4
moves:10 the pointer g.p is loaded from memory
points:11 the pointer g.p is loaded from memory
own:12 the pointer g.q is loaded from memory
pointed:6 the pointer g.p is loaded from memory
moved:5 the pointer g.p is loaded from memory

# A function that loops call is analysed by itself if no loop with it could be analysed.
$ cat > apart.c <<'END'
> double a[64], b[64]; int steps; extern void report(double);
> static double residual(void) { double s = 0; for (int i = 0; i < 64; i++) s += a[i] - b[i]; return s; }
> static void smooth(void) { for (int i = 1; i < 63; i++) b[i] = a[i - 1]; }
> static void clear(void) { for (int i = 0; i < 32; i++) a[i] = 0; }
> int converge(void) { for (int t = 0; t < steps; t++) { smooth(); if (residual() < 1) break; } return 0; }
> void printed(void) { for (int t = 0; t < 10; t++) { smooth(); report(a[0]); } }
> void good(void) { for (int t = 0; t < 10; t++) clear(); }
> END
$ count apart.c
converge:5 loop left out: bound is not affine: steps is not known (--set steps=NUMBER gives it)
printed:6 a call of report, whose body is not in the source
good:7 320 4
smooth:3 124 16
residual:2 128 16

# Unsigned variables that go down until they wrap, past the bound they start below.
$ cat > wrapped.c <<'END'
> #include <stddef.h>
> double a[100], m[64][64];
> void down(void) { for (unsigned i = 63; i < 64; i--) a[i] = 1; }
> void steps(size_t n) { for (size_t i = n - 1; i < n; i -= 3) a[i] = 1; }
> void nested(void) { for (unsigned i = 0; i < 64; i++) for (unsigned j = i; j <= i; j--) m[i][j] = 1; }
> void whiles(size_t n) { size_t i = n - 1; while (i < n) { a[i] = 1; i--; } }
> void after(size_t n) { size_t i; for (i = n - 1; i < n; i--) a[i] = 1; for (size_t k = 0; k < i; k++) a[k] = i; }
> void above(void) { for (unsigned i = 70; i < 64; i--) a[i] = 1; }
> void number(void) { for (int i = 63; i < 64; i--) a[i] = 1; }
> void narrow(void) { for (unsigned char i = 63; i < 64; i--) a[i] = 1; }
> void never(void) { for (unsigned i = 63; i < 4294967295u; i--) a[i] = 1; }
> END
$ count wrapped.c --set n=20
down:3 64 8
steps:4 7 3
nested:5 2080 288
whiles:6 20 3
after:7 20 3
after:7.2 loop left out: bound is not affine: i is used after its loop
above:8 loop left out: the step leads away from the bound
number:9 loop left out: the step leads away from the bound
narrow:10 loop left out: the step leads away from the bound
never:11 loop left out: the step leads away from the bound

# Pointers in an object that a method or function which is not followed may change, and into vectors that were exchanged.
$ cat > changes.cc <<'END'
> #include <utility>
> #include <vector>
> double a[64]; struct view { double *p; view(double *q) : p(q) {} void set(double *q); void look() const; double &operator[](int i) { return p[i]; } };
> struct late { double *p; virtual void set(double *q) { p = q; } }; extern void change(view &v); extern void look(const view &v);
> struct field { std::vector<double> d; double *raw() { return d.data(); } void exchange(field &o) { d.swap(o.d); } };
> static void turn(std::vector<double> &x, std::vector<double> &y) { x.swap(y); }
> void assigned(view x, view &y) { x = y; for (int i = 0; i < 64; i++) x[i] = y[i]; }
> void method(view &x) { x.set(a); for (int i = 0; i < 64; i++) x[i] = a[i]; }
> void late_one(late *x) { x->set(a); for (int i = 0; i < 64; i++) x->p[i] = a[i]; }
> void passed(view x) { change(x); for (int i = 0; i < 64; i++) x.p[i] = a[i]; }
> void kept(view x) { look(x); x.look(); for (int i = 0; i < 64; i++) x.p[i] = a[i]; }
> void members(field &x, field &y) { double *p = x.raw(); x.exchange(y); for (int i = 0; i < 64; i++) p[i] = x.raw()[i]; }
> void called() { std::vector<double> u(64), v(64); double *p = &u[0]; turn(u, v); for (int i = 0; i < 64; i++) p[i] = u[i]; }
> void maybe() { std::vector<double> u(64), v(64); double *p = &u[0]; if (a[0] > 0) u.swap(v); for (int i = 0; i < 64; i++) p[i] = u[i]; }
> void same() { std::vector<double> u(64); double *p = u.data(); u[3] = u.back(); for (int i = 0; i < 64; i++) p[i] = u[i]; }
> END
$ count changes.cc
assigned:7 the pointer p is loaded from memory
method:8 the pointer p is loaded from memory
late_one:9 the pointer x->p is loaded from memory
passed:10 the pointer x.p is loaded from memory
kept:11 128 16
members:12 p points to elements that were exchanged or replaced
called:13 p points to elements that were exchanged or replaced
maybe:14 p points to elements that were exchanged or replaced
same:15 128 8
