package determinism

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// readers are library functions that never write the slices, maps and tables they are given.
var readers = []string{
	"bytes.Compare", "bytes.Contains", "bytes.Equal", "bytes.HasPrefix", "bytes.HasSuffix", "bytes.Index",
	"bytes.IndexByte", "bytes.NewReader",
	"encoding/json.Unmarshal", "fmt.Errorf", "fmt.Sprintf", "fmt.Sprint",
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
	if f == nil {
		return false
	}
	return slices.Contains(readers, f.FullName()) || c.parameterIsRead(f.Origin(), slices.Index(call.Args, e))
}

// parameterIsRead reports whether the function f, one of those being checked, only reads what its parameter i shares.
func (c *checker) parameterIsRead(f *types.Func, i int) bool {
	body, ok := c.functions[f.FullName()]
	if !ok || i < 0 {
		return false
	}
	name := parameter(body.decl, i)
	if name == nil {
		return true // a parameter without a name is not used at all
	}
	v := body.pkg.TypesInfo.Defs[name]
	if answer, ok := c.read[v]; ok {
		return answer
	}
	c.read[v] = true // holds unless a use says otherwise, also for a function that calls itself
	outer := c.pkg
	c.pkg = body.pkg
	c.read[v] = c.onlyReads(body.decl, v)
	c.pkg = outer
	return c.read[v]
}

// addressIsRead reports whether the address u, the last node of path, goes no further than a new local variable, or a
// parameter, through which nothing is written.
func (c *checker) addressIsRead(u *ast.UnaryExpr, path []ast.Node) bool {
	switch p := path[len(path)-2].(type) {
	case *ast.CallExpr:
		return c.callReads(p, u)
	case *ast.AssignStmt:
		i := slices.Index(p.Rhs, ast.Expr(u))
		if p.Tok != token.DEFINE || i < 0 || len(p.Lhs) != len(p.Rhs) {
			return false
		}
		name, ok := p.Lhs[i].(*ast.Ident)
		if !ok {
			return false
		}
		v := c.pkg.TypesInfo.Defs[name]
		return v != nil && c.localIsRead(v, path)
	}
	return false
}

// localIsRead reports whether every use of the local variable v only reads. path leads through the function it is in.
func (c *checker) localIsRead(v types.Object, path []ast.Node) bool {
	for _, n := range path {
		if f, ok := n.(*ast.FuncDecl); ok {
			return c.onlyReads(f, v)
		}
	}
	return false
}

// onlyReads reports whether no use of v within f writes through it or hands it on.
func (c *checker) onlyReads(f *ast.FuncDecl, v types.Object) bool {
	reads := true
	walk(f, func(n ast.Node, path []ast.Node) {
		if id, ok := n.(*ast.Ident); ok && reads && c.pkg.TypesInfo.Uses[id] == v && c.useFault(path) != nil {
			reads = false
		}
	})
	return reads
}

// parameter is the name of parameter i, or of the variadic one that takes it; nil if it has none.
func parameter(decl *ast.FuncDecl, i int) *ast.Ident {
	var names []*ast.Ident
	for _, field := range decl.Type.Params.List {
		names = append(names, field.Names...)
	}
	if len(names) == 0 {
		return nil
	}
	return names[min(i, len(names)-1)]
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
