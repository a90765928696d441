package page

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"
)

// What the policy forbids would fail silently in the browser.
var forbidden = []*regexp.Regexp{
	regexp.MustCompile(`<script>`), regexp.MustCompile(`<style`), regexp.MustCompile(`\sstyle="`), regexp.MustCompile(`\son[a-z]+="`),
	regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function\(`),
	regexp.MustCompile(`\b(src|href)="(https?:|//|data:)`), regexp.MustCompile(`@import|url\((['"]?)(https?:|//|data:)`),
	regexp.MustCompile(`fetch\(\s*['"` + "`" + `]https?:`),
}

// The page is at most 500 KB, asks nothing of another machine, and needs no
// more than its policy allows.
func TestWebFiles(t *testing.T) {
	total := 0
	err := fs.WalkDir(web, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(web, path)
		if err != nil {
			return err
		}
		total += len(b)
		if strings.HasSuffix(path, ".test.js") {
			return nil
		}
		for _, r := range forbidden {
			if m := r.Find(b); m != nil {
				t.Errorf("%s holds %q", path, m)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if total > 500_000 {
		t.Errorf("the page weighs %d bytes, more than 500 000", total)
	}
}
