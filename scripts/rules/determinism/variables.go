package determinism

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

const (
	insteadVar   = "a field of the state, a constant, or a table that nobody writes"
	insteadWrite = "a local copy or a field of the state; a package-level table is set where it is declared and never after"
	insteadAlias = "an array, whose copies are independent, or read it in place (index, range, len, copy or append from it), or hand it to a function of these rooms that only reads it"
)

// declarations notes the functions of file and its package-level variables, none of which may be written after it is
// declared, and reports those that are neither errors, nor embedded files, nor tables.
func (c *checker) declarations(file *ast.File) {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
			if obj, ok := c.pkg.TypesInfo.Defs[f.Name].(*types.Func); ok {
				c.functions[obj.FullName()] = function{f, c.pkg}
			}
		}
		gen, ok := d.(*ast.GenDecl)
		if !ok || gen.Tok != token.VAR {
			continue
		}
		for _, s := range gen.Specs {
			spec := s.(*ast.ValueSpec)
			for i, name := range spec.Names {
				c.declaration(gen, spec, i, name)
			}
		}
	}
}

func (c *checker) declaration(gen *ast.GenDecl, spec *ast.ValueSpec, i int, name *ast.Ident) {
	obj, ok := c.pkg.TypesInfo.Defs[name].(*types.Var)
	if !ok || name.Name == "_" {
		return
	}
	c.tables[key(obj)] = true
	var value ast.Expr
	if i < len(spec.Values) {
		value = spec.Values[i]
	}
	isError := types.Identical(obj.Type(), types.Universe.Lookup("error").Type())
	switch {
	case isError && c.isErrorsNew(value) && strings.HasPrefix(strings.ToLower(name.Name), "err"):
	case isError:
		c.report(name, "Err… = errors.New(…)", "package-level error %s", name.Name)
	case embeds(gen.Doc) || embeds(spec.Doc):
	case len(spec.Values) == 0:
		c.report(name, insteadVar, "package-level variable %s without a value", name.Name)
	case !c.isTable(obj.Type()):
		c.report(name, insteadVar, "package-level variable %s of type %s", name.Name, obj.Type())
	}
}

func key(v *types.Var) string { return v.Pkg().Path() + "." + v.Name() }

func (c *checker) isErrorsNew(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	f := calledFunc(c.pkg.TypesInfo, call)
	return f != nil && f.FullName() == "errors.New"
}

func embeds(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(l *ast.Comment) bool { return strings.HasPrefix(l.Text, "//go:embed ") })
}

// isTable reports whether a variable of type t can be a table, by which is meant whatever is worked out once and then
// read: numbers, strings, arrays, slices, maps, structs of data, pointers to arrays (hash/crc32 hands its tables out so),
// and pointers to a struct of the same package, which is then sealed. Another pointer, an interface, a channel or a
// function in a variable is state, or a way to state.
func (c *checker) isTable(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Array, *types.Slice, *types.Map, *types.Struct, *types.Basic:
		return true
	case *types.Pointer:
		if _, ok := u.Elem().Underlying().(*types.Array); ok {
			return true
		}
		return c.seal(u.Elem())
	}
	return false
}

// fault is what a use of a table does wrong.
type fault struct {
	at      ast.Node
	instead string
	what    string // what is done, with %s for the name of the variable
}

// variableUse reports a use of a package-level variable that writes it or lets somebody else write it. path leads from
// the file to the identifier.
func (c *checker) variableUse(v *types.Var, path []ast.Node) {
	if v.Pkg() == nil || v.Parent() != v.Pkg().Scope() || !c.tables[key(v)] {
		return
	}
	if f := c.useFault(path); f != nil {
		c.report(f.at, f.instead, f.what, v.Name())
	}
}

// useFault judges a use of a variable whose memory must not be written. path leads to the identifier.
func (c *checker) useFault(path []ast.Node) *fault {
	// Climb from the name to the largest part of the variable that this use speaks of: table[i].field[1:].
	at, up := path[len(path)-1].(ast.Expr), len(path)-2
	for ; up >= 0; up-- {
		switch p := path[up].(type) {
		case *ast.ParenExpr, *ast.StarExpr:
		case *ast.IndexExpr:
			if p.X != at {
				return nil // the table's value indexes something else
			}
		case *ast.SliceExpr:
			if p.X != at {
				return nil // the table's value bounds a slice of something else
			}
		case *ast.SelectorExpr:
			if p.Sel == at { // package.Table
				break
			}
			if sel := c.pkg.TypesInfo.Selections[p]; sel != nil && sel.Kind() != types.FieldVal {
				return c.methodFault(p, sel)
			}
			if ptr, ok := c.pkg.TypesInfo.TypeOf(at).Underlying().(*types.Pointer); ok && c.isSealed(ptr.Elem()) {
				return nil // what is behind it is watched by type
			}
		default:
			return c.partFault(at, path[:up+1])
		}
		at = path[up].(ast.Expr)
	}
	return nil
}

func (c *checker) methodFault(at *ast.SelectorExpr, sel *types.Selection) *fault {
	f, ok := sel.Obj().(*types.Func)
	if !ok || f.Signature().Recv() == nil {
		return nil
	}
	t, ptr := f.Signature().Recv().Type().Underlying().(*types.Pointer)
	if !ptr || c.isSealed(t.Elem()) {
		return nil
	}
	return &fault{at, insteadWrite, "method " + f.Name() + " with a pointer receiver on package-level %s"}
}

// partFault judges the part at of a variable by the node that holds it, which is the last of path.
func (c *checker) partFault(at ast.Expr, path []ast.Node) *fault {
	assigned := &fault{at, insteadWrite, "assignment to package-level %s"}
	switch p := path[len(path)-1].(type) {
	case *ast.AssignStmt:
		if slices.Contains(p.Lhs, at) {
			return assigned
		}
	case *ast.IncDecStmt:
		return assigned
	case *ast.RangeStmt:
		if p.Key == at || p.Value == at {
			return assigned
		}
		return nil
	case *ast.TypeAssertExpr: // what comes out may share the memory that went in
		return &fault{at, insteadAlias, "package-level %s handed on, so that it could be written through"}
	case *ast.UnaryExpr:
		if p.Op == token.AND && !c.addressIsRead(p, path) {
			return &fault{at, insteadWrite, "address of package-level %s"}
		}
		return nil
	}
	if c.shares(at) && !c.readOnly(at, path) {
		return &fault{at, insteadAlias, "package-level %s handed on, so that it could be written through"}
	}
	return nil
}

// shares reports whether a copy of e still writes to the same memory. Pointers to sealed types do not count: what is
// behind them is watched by type.
func (c *checker) shares(e ast.Expr) bool {
	t := c.pkg.TypesInfo.TypeOf(e)
	if t == nil {
		return false
	}
	switch t := t.Underlying().(type) {
	case *types.Slice, *types.Map:
		return true
	case *types.Pointer:
		return !c.isSealed(t.Elem())
	}
	return false
}
