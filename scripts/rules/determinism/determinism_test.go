package determinism

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// plants are packages that each hold one thing; want lists "line: words" that must be reported, and nothing else.
var plants = []struct {
	name, source string
	want         []string
}{
	{"clock", `package p
import "time"
func F() int64 { return time.Now().UnixNano() }`, []string{"2: import of time"}},
	{"mathpkg", `package p
import "math"
const C = math.MaxInt8`, []string{"2: import of math"}},
	{"mathbits", `package p
import "math/bits"
func F(x uint32) int { return bits.Len32(x) }`, nil},
	{"mathbig", `package p
import "math/big"
func F() string { return big.NewInt(1).String() }`, []string{"2: import of math/big"}},
	{"random", `package p
import (
	"math/rand"
	v2 "math/rand/v2"
	"hash/maphash"
)
func F() int { _ = v2.Int(); _ = maphash.MakeSeed(); return rand.Int() }`,
		[]string{"3: import of math/rand", "4: import of math/rand/v2", "5: import of hash/maphash"}},
	{"system", `package p
import (
	"os"
	"net"
	"sync"
	"sync/atomic"
	"unsafe"
	"reflect"
	"log/slog"
	"net/netip"
	"runtime"
)
var _ = os.Args
var _ net.Conn
func F() { var m sync.Mutex; m.Lock(); var a atomic.Int64; a.Add(1); _ = unsafe.Sizeof(a); _ = reflect.TypeOf(a); slog.Info(""); _ = netip.Addr{}; runtime.GC() }`,
		[]string{"3: import of os", "4: import of net", "5: import of sync", "6: import of sync/atomic", "7: import of unsafe",
			"8: import of reflect", "9: import of log/slog", "10: import of net/netip", "11: import of runtime"}},
	{"mapspkg", `package p
import ("maps"; "slices")
func F(m map[int]int) []int { return slices.Sorted(maps.Keys(m)) }`, []string{"2: import of maps"}},

	{"floatliteral", `package p
func F() int {
	const c = 4
	return c * 1.5
}`, []string{"4: floating-point literal", "4: floating-point value"}},
	{"floatliteralint", `package p
var T = [1]int{
	1e3,
}`, []string{"3: floating-point literal"}},
	{"floatconversion", `package p
func F(x int) int {
	return int(float64(x) / 3)
}`, []string{"3: floating-point type float64", "3: floating-point value"}},
	{"floatfield", `package p
type S struct {
	X float32
}`, []string{"3: floating-point type float32", "3: floating-point value"}},
	{"floatnamed", `package p
type Meters float64
func F(a, b Meters) bool {
	return a < b
}`, []string{"2: floating-point type float64", "3: floating-point type Meters", "3: floating-point value", "4: floating-point value"}},
	{"floatcall", `package p
import "strconv"
func F(s string) bool {
	x, err := strconv.ParseFloat(s, 64)
	_ = x
	return err == nil
}`, []string{"4: floating-point value", "5: floating-point value"}},
	{"floatconstraint", `package p
func F[T ~int | ~float32](x T) T {
	return x + x
}`, []string{"2: floating-point type T", "2: floating-point type float32", "2: floating-point value", "3: floating-point value"}},
	{"complexvalue", `package p
func F() int {
	return int(real(2i))
}`, []string{"3: floating-point literal", "3: floating-point value"}},

	{"maprange", `package p
func F(m map[int]int) (n int) {
	for _, v := range m {
		n += v
	}
	return n
}`, []string{"3: range over a map"}},
	{"maprangenamed", `package p
type Set map[int]bool
type Other = Set
func F(m Other) (n int) {
	for k := range m {
		n = k
	}
	return n
}`, []string{"5: range over a map"}},
	{"maprangegeneric", `package p
func F[M ~map[K]V, K comparable, V any](m M) (n int) {
	for range m {
		n++
	}
	return n
}`, []string{"3: range over a map"}},
	{"mapindex", `package p
func F(m map[int]int) int { delete(m, 1); return m[3] + len(m) }`, nil},

	{"goroutine", `package p
func F() {
	go func() {}()
}`, []string{"3: go statement"}},
	{"channels", `package p
func F(c chan int) int {
	c <- 1
	select {
	default:
	}
	for range c {
	}
	return <-c
}`, []string{"2: channel type", "2: channel value", "3: channel send", "3: channel value", "4: select statement",
		"7: channel value", "7: range over a channel", "9: channel receive", "9: channel value"}},

	{"printing", `package p
import "fmt"
func F(x int) string {
	fmt.Println(x)
	println(x)
	return fmt.Sprint(x)
}`, []string{"4: fmt.Println outside", "5: builtin println", "6: fmt.Sprint outside"}},
	{"printingdot", `package p
import . "fmt"
func F(x int) {
	Println(x)
}`, []string{"4: fmt.Println outside"}},
	{"errorbuilding", `package p
import ("errors"; "fmt")
var ErrX = errors.New("x")
var errY = errors.New("y")
type E struct { N int }
func (e *E) Error() string { return fmt.Sprintf("n %d", e.N) }
func F(x int) error { return fmt.Errorf("f %s: %w", fmt.Sprintf("%d", x), ErrX) }`, nil},
	{"errorsprintf", `package p
import ("errors"; "fmt")
func F(x int) error {
	return errors.New(fmt.Sprintf("%d", x))
}`, []string{"4: fmt.Sprintf outside"}},

	{"variables", `package p
import "errors"
var Count int
var Err = errors.New("a")
var Bad error
var Sentinel = errors.New("b")
var hook = func() {}
var state = &struct{ X int }{}
var buffer [64]byte
var enabled = true
var any1 any = 3
var mask = uint32(1) << len("abc")
func F() uint32 { return mask }
func G() {
	enabled = false
}`, []string{"3: package-level variable Count", "5: package-level error Bad", "6: package-level error Sentinel",
		"7: package-level variable hook", "8: package-level variable state", "9: package-level variable buffer", "11: package-level variable any1",
		"15: assignment to package-level enabled"}},
	{"tablesread", `package p
import ("bytes"; "hash/crc32"; "slices")
type move struct { frames [3]int; name string }
var table = [4]int{1, 2, 3, 4}
var list = []move{{frames: [3]int{1, 2, 3}}}
var names = map[string]int{"a": 1}
var crc = crc32.MakeTable(crc32.Castagnoli)
var magic = [4]byte{'V', '2', 'R', 'B'}
var alphabet = "abc"
func F(b []byte, i int) (n int) {
	for j, v := range table { n += j + v }
	for _, m := range list { n += m.frames[0] }
	t := table
	t[0] = 9
	m := list[i]
	m.frames[0] = 3
	var dst [4]int
	copy(dst[:], table[1:])
	dst[table[0]]++
	b = append(b, magic[:]...)
	b = append(b, alphabet[1:]...)
	_ = b[table[0]:table[1]]
	if !bytes.HasPrefix(b, magic[:]) || string(magic[:2]) == "V2" || list == nil { n++ }
	_ = slices.Contains(table[:], 3)
	return n + len(list) + cap(list) + names["a"] + list[i].frames[2] + int(crc32.Update(0, crc, b)) + int(crc[3])
}`, nil},
	{"tableswritten", `package p
type inner struct { x int }
func (i *inner) Set(x int) { i.x = x }
func (i inner) Get() int { return i.x }
var table = [4]int{1}
var list = []inner{{1}}
var names = map[string]int{}
var one = inner{1}
var grid = [2][]int{{1}, {2}}
func take(x []int) { x[0] = 1 }
func F() []inner {
	table[0] = 1
	table[1]++
	list[0].x += 2
	names["a"] = 1
	one = inner{2}
	_ = &table[2]
	take(table[:])
	table[1:][0] = 3
	one.Set(3)
	list[0].Set(3)
	_ = one.Get()
	l := list
	_ = l
	for table[0] = range 3 {
	}
	copy(table[:], table[1:])
	take(grid[0])
	delete(names, "a")
	list = append(list, inner{})
	(table)[3], _ = 1, 2
	return list
}
func init() {
	table[0] = 7
}`, []string{"12: assignment to package-level table", "13: assignment to package-level table", "14: assignment to package-level list",
		"15: assignment to package-level names", "16: assignment to package-level one", "17: address of package-level table",
		"18: package-level table handed on", "19: assignment to package-level table", "20: method Set with a pointer receiver on package-level one",
		"21: method Set with a pointer receiver on package-level list", "23: package-level list handed on", "25: assignment to package-level table",
		"27: package-level table handed on", "28: package-level grid handed on", "29: package-level names handed on",
		"30: assignment to package-level list", "30: package-level list handed on", "31: assignment to package-level table",
		"32: package-level list handed on", "35: assignment to package-level table"}},
	{"errorparameters", `package p
import "fmt"
var magic = [4]byte{'B', 'S'}
func malformed(format string, args ...any) error { return fmt.Errorf("bad: %s", fmt.Sprintf(format, args...)) }
func sly(args ...any) { args[0].([]byte)[0] = 1 }
func F() error {
	sly(magic[:])
	return malformed("want %s", magic[:])
}`, []string{"7: package-level magic handed on"}},
	{"parameters", `package p
var table = [4]string{"a", "b"}
type reader struct{}
func (reader) index(word string, names []string, rest ...[]string) int {
	for i, n := range names { if n == word { return i } }
	if len(names) > 1 { return reader{}.index(word, names[1:], rest...) }
	return -1
}
func generic[T any](x []T) T { return x[0] }
func unnamed(int, []string) {}
func keep(x []string) []string { return x }
func write(x []string) { pass(x) }
func pass(x []string) { x[1] = "" }
func F() int {
	unnamed(1, table[:])
	_ = generic(table[:])
	_ = keep(table[:])
	write(table[:])
	f := pass
	f(table[:])
	return reader{}.index("a", table[:], table[1:])
}`, []string{"17: package-level table handed on", "18: package-level table handed on", "20: package-level table handed on"}},
	{"addresses", `package p
type row struct { n int; changes [4]int }
var rows = [3]row{{n: 1}}
func show(r *row) int { return r.n + r.changes[0] }
func spoil(r *row) { r.n++ }
func keep(r *row) *row { return r }
func F(i int) int {
	r := &rows[i]
	a, b := &rows[0], 3
	c := r.changes[i]
	for k := range r.n { c += r.changes[k] + b }
	w := &rows[1]
	w.n = 2
	k := &rows[2]
	k = keep(k)
	q := &rows[0].n
	*q = 3
	spoil(&rows[0])
	f := &rows[0]
	func() { f.changes[0]++ }()
	return c + a.n + show(&rows[1]) + show(r)
}`, []string{"12: address of package-level rows", "14: address of package-level rows", "16: address of package-level rows",
		"18: address of package-level rows", "19: address of package-level rows"}},
	{"roster", `package p
type Roster struct { moves []Move; Names map[string]int; Grid [2][]int; First *Move }
type Move struct { Frames int; Windows []int; Box Box }
type Box struct { X int }
type Loose struct { X int }
var embedded = load()
var other = &Loose{}
var inner = &struct{ X int }{}
func load() *Roster { r := &Roster{}; r.moves = append(r.moves, Move{Frames: 3}); return r }
func Embedded() *Roster { return embedded }
func (r *Roster) Move(i int) *Move { return &r.moves[i] }
func (r *Roster) All() []Move { return r.moves }
func G() int { r := &embedded.First; return (*r).Frames }
func F() { embedded = nil; _ = other }`, []string{"8: package-level variable inner", "14: assignment to package-level embedded"}},
	{"rosteruser", `package p
import roster "planted/sim/roster"
func F() int {
	r := roster.Embedded()
	m := r.Move(0)
	local := *m
	local.Frames = 9
	local.Box.X = 9
	box := &m.Box
	m.Frames = 1
	m.Box.X++
	box.X = 3
	r.All()[0].Frames = 2
	r.Grid[0][1] = 2
	local.Windows[0] = 2
	r.Names["a"] = 1
	delete(r.Names, "a")
	copy(m.Windows, []int{1})
	*m = local
	p := &m.Frames
	*p = 4
	q := &m.Windows
	_ = (*q)[0]
	var own [2]roster.Move
	own[1].Frames = 3
	list := r.All()
	list[0] = local
	return m.Frames + len(m.Windows) + r.Names["a"] + r.Grid[0][0] + own[1].Frames
}`, []string{"10: write through sealed", "11: write through sealed", "12: write through sealed", "13: write through sealed",
		"14: write through sealed", "15: write through sealed", "16: write through sealed", "17: write through sealed",
		"18: write through sealed", "19: write through sealed", "20: address of a part of sealed", "27: write through sealed"}},
	{"embedded", `package p
import _ "embed"
//go:embed data.txt
var data []byte
//go:embed data.txt
var text string
func F() int { return len(data) + len(text) }`, nil},
	{"embeddedwritten", `package p
import _ "embed"
//go:embed data.txt
var data []byte
func F() {
	data[0] = 1
}`, []string{"6: assignment to package-level data"}},
	{"owner", `package p
var Table = [2]int{1, 2}
type Iface interface{ M() }
type T struct{}
func (*T) M() {}
var _ Iface = (*T)(nil)
func F(x, y int) int { return x*y + Table[0] }`, nil},
	{"user", `package p
import owner "planted/sim/owner"
func F() {
	owner.Table[0] = 3
}`, []string{"4: assignment to package-level Table"}},
}

func TestPlanted(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module planted\n\ngo 1.26\n")
	for _, p := range plants {
		write("sim/"+p.name+"/"+p.name+".go", p.source)
		write("sim/"+p.name+"/data.txt", "x")
		write("sim/"+p.name+"/x_test.go", "package p\nimport \"time\"\nvar now = time.Now()\n")
	}
	result, err := Check(dir, nil, "./sim/...")
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Packages) != len(plants) {
		t.Fatalf("%d packages read, %d planted", len(result.Packages), len(plants))
	}
	for _, p := range plants {
		t.Run(p.name, func(t *testing.T) {
			var got []Finding
			for _, f := range result.Findings {
				if filepath.Base(f.File) == p.name+".go" {
					got = append(got, f)
				}
			}
			left := slices.Clone(p.want)
			for _, f := range got {
				if f.Instead == "" {
					t.Errorf("%v does not say what to use instead", f)
				}
				text := strings.TrimPrefix(f.String(), f.File+":")
				i := slices.IndexFunc(left, func(w string) bool { return strings.HasPrefix(text, w) })
				if i < 0 {
					t.Errorf("reported, but not planted: %s", text)
					continue
				}
				left = slices.Delete(left, i, i+1)
			}
			for _, w := range left {
				t.Errorf("planted, but not reported: %s", w)
			}
		})
	}
}

func TestBrokenCodeIsAnError(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module planted\n\ngo 1.26\n", "p.go": "package p\n\nvar X int = \"no\"\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Check(dir, nil, "./..."); err == nil || !strings.Contains(err.Error(), "p.go:3") {
		t.Errorf("error %v, want one that names p.go:3", err)
	}
}
