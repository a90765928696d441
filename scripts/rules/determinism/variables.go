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
	insteadAlias = "an array, whose copies are independent, or read it in place: index, range, len, copy from, append from"
)

// declarations notes the package-level variables of file that are tables and so must not be written: all but errors,
// embedded files and assertions. Errors must be Err… = errors.New(…); nothing may replace them either.
func (c *checker) declarations(file *ast.File) {
	for _, d := range file.Decls {
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
	case !isTable(obj.Type()):
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

// isTable reports whether a variable of type t can be a table: arrays, slices, maps, strings, structs of data, and
// pointers to arrays (hash/crc32 hands its tables out so). A number, a pointer, an interface or a function in a
// variable is state, or a way to state.
func isTable(t types.Type) bool {
	switch t := t.Underlying().(type) {
	case *types.Array, *types.Slice, *types.Map, *types.Struct:
		return true
	case *types.Pointer:
		_, ok := t.Elem().Underlying().(*types.Array)
		return ok
	case *types.Basic:
		return t.Info()&types.IsString != 0
	}
	return false
}

// variableUse reports a use of a package-level variable that writes it or lets somebody else write it. path leads from
// the file to the identifier.
func (c *checker) variableUse(v *types.Var, path []ast.Node) {
	if v.Pkg() == nil || v.Parent() != v.Pkg().Scope() || !c.tables[key(v)] {
		return
	}
	// Climb from the name to the largest part of the variable that this use speaks of: table[i].field[1:].
	at, up := path[len(path)-1].(ast.Expr), len(path)-2
	for ; up >= 0; up-- {
		switch p := path[up].(type) {
		case *ast.ParenExpr, *ast.StarExpr:
		case *ast.IndexExpr:
			if p.X != at {
				return // the table's value indexes something else
			}
		case *ast.SliceExpr:
			if p.X != at {
				return // the table's value bounds a slice of something else
			}
		case *ast.SelectorExpr:
			if p.Sel == at { // package.Table
				break
			}
			if sel := c.pkg.TypesInfo.Selections[p]; sel != nil && sel.Kind() != types.FieldVal {
				c.methodUse(v, p, sel)
				return
			}
		default:
			c.partUse(v, at, path[:up+1])
			return
		}
		at = path[up].(ast.Expr)
	}
}

func (c *checker) methodUse(v *types.Var, at ast.Node, sel *types.Selection) {
	f, ok := sel.Obj().(*types.Func)
	if !ok {
		return
	}
	recv := f.Signature().Recv()
	if recv == nil {
		return
	}
	if _, ptr := recv.Type().Underlying().(*types.Pointer); ptr {
		c.report(at, insteadWrite, "method %s with a pointer receiver on package-level %s", f.Name(), v.Name())
	}
}

// partUse judges the part at of variable v by the node that holds it, which is the last of path.
func (c *checker) partUse(v *types.Var, at ast.Expr, path []ast.Node) {
	parent := path[len(path)-1]
	switch p := parent.(type) {
	case *ast.AssignStmt:
		if slices.Contains(p.Lhs, at) {
			c.report(at, insteadWrite, "assignment to package-level %s", v.Name())
			return
		}
	case *ast.IncDecStmt:
		c.report(at, insteadWrite, "assignment to package-level %s", v.Name())
		return
	case *ast.RangeStmt:
		if p.Key == at || p.Value == at {
			c.report(at, insteadWrite, "assignment to package-level %s", v.Name())
		}
		return
	case *ast.UnaryExpr:
		if p.Op == token.AND {
			c.report(at, insteadWrite, "address of package-level %s", v.Name())
		}
		return
	}
	if c.shares(at) && !c.readOnly(at, path) {
		c.report(at, insteadAlias, "package-level %s handed on, so that it could be written through", v.Name())
	}
}

// shares reports whether a copy of e still writes to the same memory.
func (c *checker) shares(e ast.Expr) bool {
	t := c.pkg.TypesInfo.TypeOf(e)
	if t == nil {
		return false
	}
	switch t.Underlying().(type) {
	case *types.Slice, *types.Map, *types.Pointer:
		return true
	}
	return false
}
