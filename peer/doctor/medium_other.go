//go:build !(linux || darwin || windows)

package doctor

import "backstep/natpunch/gateway"

func systemMedium(gateway.Route) Medium { return UnknownMedium }
