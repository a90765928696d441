package input

import (
	"bufio"
	"compress/gzip"
	"os"
	"strconv"
	"strings"
	"testing"
)

// traces are recorded words of both players, kept in testdata with their notice.
var traces = []string{"melee_09", "melee_12", "melee_14"}

// load reads the two columns of a trace.
func load(t testing.TB, name string) [2][]uint16 {
	t.Helper()
	f, err := os.Open("testdata/" + name + ".csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var words [2][]uint16
	lines := bufio.NewScanner(z)
	for header := true; lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		if header {
			header = false
			continue
		}
		for i, field := range strings.Split(lines.Text(), ",")[1:3] {
			w, err := strconv.ParseUint(field, 16, 16)
			if err != nil {
				t.Fatal(err)
			}
			words[i] = append(words[i], uint16(w))
		}
	}
	if err := lines.Err(); err != nil || len(words[0]) < 3000 {
		t.Fatalf("%s: %d rows, %v", name, len(words[0]), err)
	}
	return words
}
