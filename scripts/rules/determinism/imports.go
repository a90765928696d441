package determinism

import (
	"go/ast"
	"strconv"
	"strings"
)

const (
	insteadTime   = "the frame number, or an int64 of microseconds that the caller hands in"
	insteadMath   = "integers and Q16.16 fixed point; math/bits is allowed"
	insteadRandom = "the generators in the state: the fighter's LCG or the match's SplitMix64"
	insteadOS     = "bytes, an io.Reader or an io.Writer that the caller hands in"
	insteadSync   = "one goroutine that owns the state; no locks"
	insteadUnsafe = "values, encoding/binary and generics"
	insteadHash   = "xxhash64 or hash/crc32, which give the same sum everywhere"
	insteadLog    = "return values and counters that the caller may log"
	insteadMaps   = "a sorted slice or an array; maps yield their keys in random order"
	insteadRun    = "nothing: the state must not depend on the machine it runs on"
	insteadFmt    = "strconv and append; fmt is for building errors"
)

// forbiddenImports maps an import path to what to use instead; a path ending in / stands for all below it.
var forbiddenImports = map[string]string{
	"time":  insteadTime,
	"math":  insteadMath,
	"math/": insteadMath,

	"math/rand":    insteadRandom,
	"math/rand/":   insteadRandom,
	"crypto/rand":  insteadRandom,
	"hash/maphash": insteadHash,
	"maps":         insteadMaps,

	"os":      insteadOS,
	"os/":     insteadOS,
	"net":     insteadOS,
	"net/":    insteadOS,
	"syscall": insteadOS,
	"context": insteadSync,
	"sync":    insteadSync,
	"sync/":   insteadSync,
	"unsafe":  insteadUnsafe,
	"reflect": insteadUnsafe,
	"C":       insteadUnsafe,
	"unique":  insteadUnsafe,
	"weak":    insteadUnsafe,
	"runtime": insteadRun,

	"runtime/":              insteadRun,
	"plugin":                insteadRun,
	"log":                   insteadLog,
	"log/":                  insteadLog,
	"testing":               insteadRun,
	"golang.org/x/sys/":     insteadOS,
	"golang.org/x/net/":     insteadOS,
	"github.com/rs/zerolog": insteadLog,

	"github.com/rs/zerolog/": insteadLog,
}

var allowedImports = map[string]bool{"math/bits": true}

func (c *checker) imports(file *ast.File) {
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil || allowedImports[path] {
			continue
		}
		if instead, ok := forbidden(path); ok {
			c.report(spec, instead, "import of %s", path)
		}
	}
}

// forbidden looks path up by itself and then by each of its parents, the nearest first.
func forbidden(path string) (instead string, ok bool) {
	if instead, ok = forbiddenImports[path]; ok {
		return instead, true
	}
	for i := strings.LastIndexByte(path, '/'); i >= 0; i = strings.LastIndexByte(path[:i], '/') {
		if instead, ok = forbiddenImports[path[:i+1]]; ok {
			return instead, true
		}
	}
	return "", false
}
