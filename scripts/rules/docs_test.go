package rules

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	requirementID = regexp.MustCompile(`^[A-Z]{1,4}-\d+$`)
	namedTest     = regexp.MustCompile("`([a-z0-9_/]+)\\.((?:Test|Fuzz|Benchmark|Example)\\w*)(?:/([^`]*))?`")
	pageTest      = regexp.MustCompile("`((?:page|picture|walk|unit)\\.test\\.js): ([^`]+)`")
	markdownLink  = regexp.MustCompile(`\]\(([^)#\s]+)(?:#[^)]*)?\)`)
)

// claim is one row of docs/claims.md: | id | what is claimed | `package.Test`, `page.test.js: title`, … |
type claim struct {
	line  int
	id    string
	text  string
	tests [][]string // package directory, function, subtest
	pages [][]string // file and title of tests in JavaScript
}

func claims(t *testing.T) []claim {
	t.Helper()
	var all []claim
	for i, line := range strings.Split(read(t, "docs/claims.md"), "\n") {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|-") || strings.HasPrefix(line, "| id ") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if len(cells) != 3 {
			t.Errorf("docs/claims.md:%d: %d cells, want id, claim, tests", i+1, len(cells))
			continue
		}
		c := claim{line: i + 1, id: strings.TrimSpace(cells[0]), text: strings.TrimSpace(cells[1])}
		for _, m := range namedTest.FindAllStringSubmatch(cells[2], -1) {
			c.tests = append(c.tests, m[1:])
		}
		for _, m := range pageTest.FindAllStringSubmatch(cells[2], -1) {
			c.pages = append(c.pages, m[1:])
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		t.Fatal("docs/claims.md holds no claim")
	}
	return all
}

// testFunction is where a test stands.
type testFunction struct {
	file string
	text string // the whole file
}

// G-08: what is claimed names a test that stands, and the test names the requirement.
func TestClaims(t *testing.T) {
	functions := map[string]testFunction{} // dir.Name
	packageText := map[string]string{}     // all test files of a directory
	for _, f := range parsed(t, 0) {
		if !f.test {
			continue
		}
		text := read(t, f.name)
		packageText[f.dir] += text
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				functions[f.dir+"."+fn.Name.Name] = testFunction{f.name, text}
			}
		}
	}

	firstLine := map[string]int{}
	for _, c := range claims(t) {
		if c.text == "" || c.id == "" {
			t.Errorf("docs/claims.md:%d: a claim needs an id and a sentence", c.line)
		}
		for _, page := range c.pages {
			if !strings.Contains(read(t, "scripts/pagetest/"+page[0]), "test('"+page[1]+"'") {
				t.Errorf("docs/claims.md:%d: %s: no test in %s is called %q", c.line, c.id, page[0], page[1])
			}
		}
		if len(c.tests) == 0 && len(c.pages) == 0 {
			t.Errorf("docs/claims.md:%d: %s names no test as `package/dir.TestName`", c.line, c.id)
		}
		if first := firstLine[c.id]; first != 0 {
			t.Errorf("docs/claims.md:%d: %s stands on line %d already; one row for each id, with all its tests", c.line, c.id, first)
		}
		firstLine[c.id] = c.line
		named := false
		for _, test := range c.tests {
			f, ok := functions[test[0]+"."+test[1]]
			if !ok {
				t.Errorf("docs/claims.md:%d: %s: there is no test %s in %s", c.line, c.id, test[1], test[0])
				continue
			}
			sub, _, _ := strings.Cut(test[2], "/")
			if sub != "" && !strings.Contains(packageText[test[0]], sub) && !strings.Contains(packageText[test[0]], strings.ReplaceAll(sub, "_", " ")) {
				t.Errorf("docs/claims.md:%d: no test in %s has a subtest %q", c.line, test[0], sub)
			}
			named = named || mentions(f.text, c.id)
		}
		if requirementID.MatchString(c.id) && len(c.tests) > 0 && !named {
			t.Errorf("docs/claims.md:%d: no file of the tests for %s names %s", c.line, c.id, c.id)
		}
	}
}

// mentions reports whether text holds id by itself, not as the beginning of a longer number.
func mentions(text, id string) bool {
	for rest := text; ; {
		i := strings.Index(rest, id)
		if i < 0 {
			return false
		}
		end := i + len(id)
		if end == len(rest) || rest[end] < '0' || rest[end] > '9' {
			return true
		}
		rest = rest[end:]
	}
}

func TestMentions(t *testing.T) {
	for text, want := range map[string]bool{
		"// ACK-1: x": true, "ACK-12": false, "ACK-12, ACK-1": true, "ACK-1": true, "": false,
	} {
		if got := mentions(text, "ACK-1"); got != want {
			t.Errorf("mentions(%q) = %v", text, got)
		}
	}
}

// Links of the pages lead to files of the repository.
func TestLinks(t *testing.T) {
	for _, name := range tracked() {
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		for _, m := range markdownLink.FindAllStringSubmatch(read(t, name), -1) {
			target := m[1]
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			to := path.Join(path.Dir(name), target)
			if !filepath.IsLocal(to) {
				t.Errorf("%s: the link %s leaves the repository", name, target)
			} else if _, err := os.Stat(onDisk(to)); err != nil {
				t.Errorf("%s: the link %s leads nowhere", name, target)
			}
		}
	}
}
