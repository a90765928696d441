package determinism

import (
	"go/ast"
	"go/types"
)

const insteadSealed = "a local copy; data behind a package-level pointer is written only by its own package, while it is built"

// seal marks the struct type t of the package being read, and the struct types of that package that its fields lead to.
// It reports whether t is such a type.
func (c *checker) seal(t types.Type) bool {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == nil || named.Obj().Pkg() != c.pkg.Types {
		return false
	}
	st, ok := named.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	name := typeKey(named)
	if c.sealed[name] {
		return true
	}
	c.sealed[name] = true
	for field := range st.Fields() {
		c.sealWithin(field.Type())
	}
	return true
}

// sealWithin seals the struct types that a field of type t leads to.
func (c *checker) sealWithin(t types.Type) {
	switch u := types.Unalias(t).(type) {
	case *types.Named:
		if !c.seal(u) {
			if _, ok := u.Underlying().(*types.Struct); !ok {
				c.sealWithin(u.Underlying())
			}
		}
	case *types.Pointer:
		c.sealWithin(u.Elem())
	case *types.Slice:
		c.sealWithin(u.Elem())
	case *types.Array:
		c.sealWithin(u.Elem())
	case *types.Map:
		c.sealWithin(u.Elem())
	}
}

func typeKey(n *types.Named) string { return n.Obj().Pkg().Path() + "." + n.Obj().Name() }

func (c *checker) isSealed(t types.Type) bool {
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Pkg() != nil && c.sealed[typeKey(named)]
}

// foreign reports whether t is sealed and declared in another package than the one being read.
func (c *checker) foreign(t types.Type) bool {
	return c.isSealed(t) && types.Unalias(t).(*types.Named).Obj().Pkg().Path() != c.pkg.PkgPath
}

// sealedWrite reports an assignment to e that goes through a pointer to a sealed type, or into a slice or map that a
// sealed struct holds.
func (c *checker) sealedWrite(e ast.Expr) {
	if name := c.throughSealed(e); name != "" {
		c.report(e, insteadSealed, "write through sealed %s", name)
	}
}

// sealedAddress reports the address of a part of a sealed struct that is not sealed itself: writes through it would go
// unseen.
func (c *checker) sealedAddress(u *ast.UnaryExpr, path []ast.Node) {
	if t := c.pkg.TypesInfo.TypeOf(u.X); t != nil && !c.isSealed(t) && !c.addressIsRead(u, path) {
		if name := c.throughSealed(u.X); name != "" {
			c.report(u, insteadSealed, "address of a part of sealed %s", name)
		}
	}
}

// sealedCopy reports a copy into, or a clear of, a slice or map that a sealed struct holds.
func (c *checker) sealedCopy(call *ast.CallExpr) {
	if !c.pkg.TypesInfo.Types[call.Fun].IsBuiltin() || len(call.Args) == 0 {
		return
	}
	switch builtinName(call.Fun) {
	case "copy", "clear", "delete":
		target := call.Args[0]
		if name := c.throughSealed(&ast.IndexExpr{X: target}); name != "" {
			c.report(target, insteadSealed, "write through sealed %s", name)
		}
	}
}

// throughSealed names the sealed type of another package whose memory the variable e is part of, if e is reached through
// a pointer to it or through a slice or map in it. A sealed struct held by value is a copy, and its own fields are free.
func (c *checker) throughSealed(e ast.Expr) string {
	shared := false // a slice or map was indexed on the way down, so that whatever holds it shares it
	for {
		var x ast.Expr
		switch n := e.(type) {
		case *ast.ParenExpr:
			e = n.X
			continue
		case *ast.SliceExpr:
			x, shared = n.X, true
		case *ast.IndexExpr:
			x = n.X
		case *ast.SelectorExpr:
			x = n.X
		case *ast.StarExpr:
			x = n.X
		default:
			return ""
		}
		t := c.pkg.TypesInfo.TypeOf(x)
		if t == nil {
			return ""
		}
		_, selected := e.(*ast.SelectorExpr)
		switch u := t.Underlying().(type) {
		case *types.Pointer:
			if c.foreign(u.Elem()) {
				return types.TypeString(u.Elem(), types.RelativeTo(c.pkg.Types))
			}
			if !selected {
				shared = true
			}
		case *types.Slice:
			if c.foreign(u.Elem()) {
				return types.TypeString(u.Elem(), types.RelativeTo(c.pkg.Types))
			}
			shared = true
		case *types.Map:
			shared = true
		case *types.Struct:
			if selected && shared && c.foreign(t) {
				return types.TypeString(t, types.RelativeTo(c.pkg.Types))
			}
		}
		e = x
	}
}
