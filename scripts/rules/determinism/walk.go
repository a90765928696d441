package determinism

import (
	"go/ast"
	"go/token"
	"go/types"
)

const (
	insteadFloat = "integers or Q16.16 fixed point"
	insteadRange = "a sorted slice or an array; a map's order differs from run to run"
	insteadChan  = "a plain call; one goroutine owns the state"
)

// walk calls visit for every node below root, with the path from root to it: what a name means depends on what stands
// around it.
func walk(root ast.Node, visit func(n ast.Node, path []ast.Node)) {
	var path []ast.Node
	ast.Inspect(root, func(n ast.Node) bool {
		if n == nil {
			path = path[:len(path)-1]
			return true
		}
		path = append(path, n)
		visit(n, path)
		return true
	})
}

// node reports what an expression or statement may not be.
func (c *checker) node(n ast.Node, path []ast.Node) {
	switch n := n.(type) {
	case *ast.GoStmt:
		c.report(n, insteadChan, "go statement")
	case *ast.SelectStmt:
		c.report(n, insteadChan, "select statement")
	case *ast.SendStmt:
		c.report(n, insteadChan, "channel send")
	case *ast.ChanType:
		c.report(n, insteadChan, "channel type")
	case *ast.UnaryExpr:
		switch n.Op {
		case token.ARROW:
			c.report(n, insteadChan, "channel receive")
		case token.AND:
			c.sealedAddress(n, path)
		}
	case *ast.AssignStmt:
		for _, e := range n.Lhs {
			c.sealedWrite(e)
		}
	case *ast.IncDecStmt:
		c.sealedWrite(n.X)
	case *ast.CallExpr:
		c.sealedCopy(n)
	case *ast.RangeStmt:
		c.rangeOver(n)
	case *ast.BasicLit:
		if n.Kind == token.FLOAT || n.Kind == token.IMAG {
			c.report(n, insteadFloat, "floating-point literal")
		}
	case *ast.Ident:
		c.ident(n, path)
	}
	if e, ok := n.(ast.Expr); ok {
		c.expression(e)
	}
}

// expression reports a value or type expression that is floating-point, complex or a channel.
func (c *checker) expression(e ast.Expr) {
	tv, ok := c.pkg.TypesInfo.Types[e]
	if !ok {
		return
	}
	if tv.IsType() {
		if isFloat(tv.Type) {
			c.report(e, insteadFloat, "floating-point type %s", types.ExprString(e))
		}
		return
	}
	c.valueType(e, tv.Type)
}

func (c *checker) valueType(at ast.Node, t types.Type) {
	if tuple, ok := t.(*types.Tuple); ok {
		for v := range tuple.Variables() {
			c.valueType(at, v.Type())
		}
		return
	}
	switch {
	case t == nil:
	case isFloat(t):
		c.report(at, insteadFloat, "floating-point value")
	case anyTerm(t, func(t types.Type) bool { _, ok := t.(*types.Chan); return ok }):
		c.report(at, insteadChan, "channel value")
	}
}

func (c *checker) rangeOver(n *ast.RangeStmt) {
	t := c.pkg.TypesInfo.TypeOf(n.X)
	if t == nil {
		return
	}
	if anyTerm(t, func(t types.Type) bool { _, ok := t.(*types.Map); return ok }) {
		c.report(n, insteadRange, "range over a map")
	}
	if anyTerm(t, func(t types.Type) bool { _, ok := t.(*types.Chan); return ok }) {
		c.report(n, insteadChan, "range over a channel")
	}
}

// ident reports uses of fmt and of the printing builtins, and writes to package-level variables.
func (c *checker) ident(id *ast.Ident, path []ast.Node) {
	if def, ok := c.pkg.TypesInfo.Defs[id].(*types.Var); ok {
		c.valueType(id, def.Type())
		return
	}
	switch obj := c.pkg.TypesInfo.Uses[id].(type) {
	case *types.Builtin:
		if obj.Name() == "print" || obj.Name() == "println" {
			c.report(id, insteadLog, "builtin %s", obj.Name())
		}
	case *types.Var:
		c.variableUse(obj, path)
	case *types.PkgName, nil:
	default:
		if obj.Pkg() != nil && obj.Pkg().Path() == "fmt" && !c.buildsError(obj.Name(), path) {
			c.report(id, insteadFmt, "fmt.%s outside building an error", obj.Name())
		}
	}
}

// buildsError reports whether the fmt function name makes an error: Errorf does, and so does what formats an argument of
// Errorf or the text in the Error method of an error type.
func (c *checker) buildsError(name string, path []ast.Node) bool {
	if name == "Errorf" {
		return true
	}
	if name != "Sprintf" && name != "Sprint" && name != "Append" && name != "Appendf" {
		return false
	}
	for _, n := range path {
		switch n := n.(type) {
		case *ast.CallExpr:
			if f := calledFunc(c.pkg.TypesInfo, n); f != nil && f.FullName() == "fmt.Errorf" {
				return true
			}
		case *ast.FuncDecl:
			if n.Recv != nil && n.Name.Name == "Error" {
				return true
			}
		}
	}
	return false
}

func isFloat(t types.Type) bool {
	return anyTerm(t, func(t types.Type) bool {
		b, ok := t.(*types.Basic)
		return ok && b.Info()&(types.IsFloat|types.IsComplex) != 0
	})
}

// anyTerm reports whether f holds for the underlying type of t or, if t is a type parameter, for that of any type its
// constraint lists.
func anyTerm(t types.Type, f func(types.Type) bool) bool {
	t = types.Unalias(t)
	if _, ok := t.(*types.TypeParam); !ok {
		return f(t.Underlying())
	}
	iface, ok := t.Underlying().(*types.Interface)
	return ok && anyConstraint(iface, f)
}

func anyConstraint(iface *types.Interface, f func(types.Type) bool) bool {
	for e := range iface.EmbeddedTypes() {
		switch e := types.Unalias(e).(type) {
		case *types.Union:
			for term := range e.Terms() {
				if anyTerm(term.Type(), f) {
					return true
				}
			}
		default:
			if inner, ok := e.Underlying().(*types.Interface); ok {
				if anyConstraint(inner, f) {
					return true
				}
			} else if f(e.Underlying()) {
				return true
			}
		}
	}
	return false
}
