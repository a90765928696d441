package relay

import (
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// docs/relay.md names every metric, drop reason, limit and event there is, no other metric, and no test that does not exist.
func TestOperatorPage(t *testing.T) {
	b, err := os.ReadFile("../docs/relay.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	r := start(t, Config{Admin: "127.0.0.1:0"})
	families, err := r.registry().Gather()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, f := range families {
		known[f.GetName()] = true
		if strings.HasPrefix(f.GetName(), "backstep_") && !strings.Contains(page, "`"+f.GetName()+"`") {
			t.Errorf("the page lacks %s", f.GetName())
		}
	}
	for _, name := range regexp.MustCompile(`backstep_relay_\w+`).FindAllString(page, -1) {
		if !known[name] {
			t.Errorf("there is no metric %s", name)
		}
	}
	for _, name := range reasonNames[keep+1:] {
		if name == "" || !strings.Contains(page, "`"+name+"`") {
			t.Errorf("the page lacks the drop reason %q", name)
		}
	}
	for _, name := range kindNames {
		if !strings.Contains(page, name) {
			t.Errorf("the page lacks the kind %q", name)
		}
	}
	l := reflect.ValueOf(DefaultLimits())
	for i := range l.NumField() {
		name := l.Type().Field(i).Name
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("the page lacks the limit %s", name)
		}
		if v := l.Field(i); v.CanInt() && v.Kind() == reflect.Int && !strings.Contains(page, fmt.Sprint(v.Int())) {
			t.Errorf("the page lacks %s = %d", name, v.Int())
		}
	}
	tests := ""
	files, _ := filepath.Glob("*_test.go")
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		tests += string(b)
	}
	for _, m := range regexp.MustCompile("`((?:Test|Fuzz)\\w+)`").FindAllStringSubmatch(page, -1) {
		if !strings.Contains(tests, "func "+m[1]+"(") {
			t.Errorf("there is no test %s", m[1])
		}
	}
	source, err := os.ReadFile("events.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`event = "(\w+)"`).FindAllStringSubmatch(string(source), -1) {
		if !strings.Contains(page, m[1]) {
			t.Errorf("the page lacks the event %s", m[1])
		}
	}
}

// Attack case 14: nothing in this package can open a connection.
func TestCase14RelayDialsNobody(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(gotoken.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		checked++
		ast.Inspect(f, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			for _, bad := range []string{"Dial", "Transport", "DefaultClient", "Connect"} {
				if strings.HasPrefix(s.Sel.Name, bad) {
					t.Errorf("%s uses %s", name, s.Sel.Name)
				}
			}
			return true
		})
	}
	if checked < 10 {
		t.Fatalf("%d files", checked)
	}
}
