package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "backstep"

// root is the top of the repository, absolute.
var root = sync.OnceValue(func() string {
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		panic(err)
	}
	return dir
})

// tracked lists the files of the repository with slashes, relative to root. In a tree that is no git repository, such
// as an unpacked archive, it is what lies there, apart from hidden and built things.
var tracked = sync.OnceValue(func() []string {
	git := exec.Command("git", "-c", "safe.directory=*", "ls-files", "-z")
	git.Dir = root()
	var files []string
	if out, err := git.Output(); err == nil {
		for _, name := range strings.Split(strings.TrimRight(string(out), "\x00"), "\x00") {
			if info, err := os.Lstat(onDisk(name)); err == nil && info.Mode().IsRegular() {
				files = append(files, name)
			}
		}
		return files
	}
	err := fs.WalkDir(os.DirFS(root()), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "bin" || name == "dist" || name != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.Type().IsRegular():
			files = append(files, name)
		}
		return nil
	})
	if err != nil {
		panic(err)
	}
	return files
})

func onDisk(name string) string { return filepath.Join(root(), filepath.FromSlash(name)) }

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(onDisk(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// goFiles lists the tracked Go files that the go command would build, so not those below testdata.
func goFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, name := range tracked() {
		if strings.HasSuffix(name, ".go") && !slices.Contains(strings.Split(name, "/"), "testdata") {
			files = append(files, name)
		}
	}
	if len(files) < 10 {
		t.Fatalf("only %d Go files found below %s: the rules see nothing", len(files), root())
	}
	return files
}

// source is one parsed Go file.
type source struct {
	name string // relative to root
	dir  string // the package's directory, "." for the root
	test bool
	*ast.File
}

// parsed parses the tracked Go files as far as mode says.
func parsed(t *testing.T, mode parser.Mode) []source {
	t.Helper()
	var files []source
	for _, name := range goFiles(t) {
		f, err := parser.ParseFile(token.NewFileSet(), onDisk(name), nil, mode|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, source{name, path.Dir(name), strings.HasSuffix(name, "_test.go"), f})
	}
	return files
}
