package determinism

import (
	"go/ast"
	"go/types"
	"slices"
)

// readers are library functions that never write the slices, maps and tables they are given.
var readers = []string{
	"bytes.Compare", "bytes.Contains", "bytes.Equal", "bytes.HasPrefix", "bytes.HasSuffix", "bytes.Index",
	"bytes.IndexByte", "bytes.NewReader",
	"encoding/json.Unmarshal",
	"hash/crc32.Checksum", "hash/crc32.New", "hash/crc32.Update", "hash/crc64.Checksum", "hash/crc64.Update",
	"crypto/sha256.Sum256", "github.com/cespare/xxhash/v2.Sum64",
	"slices.BinarySearch", "slices.BinarySearchFunc", "slices.Clone", "slices.Compare", "slices.Contains",
	"slices.ContainsFunc", "slices.Equal", "slices.Index", "slices.IndexFunc", "slices.Max", "slices.Min",
	"strings.Join",
}

// readOnly reports whether e, a value that shares memory with a table, is only read where it stands. The last node of
// path holds e.
func (c *checker) readOnly(e ast.Expr, path []ast.Node) bool {
	switch p := path[len(path)-1].(type) {
	case *ast.ParenExpr:
		return c.readOnly(p, path[:len(path)-1])
	case *ast.BinaryExpr:
		return true
	case *ast.CallExpr:
		return c.callReads(p, e)
	}
	return false
}

func (c *checker) callReads(call *ast.CallExpr, e ast.Expr) bool {
	if tv := c.pkg.TypesInfo.Types[call.Fun]; tv.IsType() { // string(table[:]) copies
		b, ok := tv.Type.Underlying().(*types.Basic)
		return ok && b.Info()&types.IsString != 0
	} else if tv.IsBuiltin() {
		name := builtinName(call.Fun)
		switch name {
		case "len", "cap":
			return true
		case "append", "copy":
			return len(call.Args) > 1 && slices.Index(call.Args, e) > 0 && (name == "copy" || call.Ellipsis.IsValid())
		}
		return false
	}
	f := calledFunc(c.pkg.TypesInfo, call)
	return f != nil && slices.Contains(readers, f.FullName())
}

func builtinName(fun ast.Expr) string {
	if id, ok := ast.Unparen(fun).(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// calledFunc is the function or method that call names, nil for anything dynamic.
func calledFunc(info *types.Info, call *ast.CallExpr) *types.Func {
	fun := ast.Unparen(call.Fun)
	for {
		switch f := fun.(type) {
		case *ast.IndexExpr:
			fun = f.X
			continue
		case *ast.IndexListExpr:
			fun = f.X
			continue
		case *ast.Ident:
			fn, _ := info.Uses[f].(*types.Func)
			return fn
		case *ast.SelectorExpr:
			fn, _ := info.Uses[f.Sel].(*types.Func)
			return fn
		}
		return nil
	}
}
