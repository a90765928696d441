//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package gateway

func defaultRoute() (Route, error) { return Route{}, ErrUnsupported }
