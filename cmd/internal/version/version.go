// Package version names the build a binary comes from.
//
// The build id is linked in by the Makefile (-ldflags "-X main.build=…"); a binary built in another way falls back on
// what the Go toolchain recorded about the working tree. Two players whose ids differ get a warning, nothing more:
// what must match is the wire version, the sim version and the game data.
package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Build is the build id: linked if that is not empty, else the revision the toolchain recorded ("-dirty" appended for
// a changed working tree), else the module version, else "unknown".
func Build(linked string) string {
	if linked != "" {
		return linked
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return fromInfo(info)
}

func fromInfo(info *debug.BuildInfo) string {
	var revision, dirty string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "-dirty"
		}
	}
	switch {
	case revision != "":
		return revision + dirty
	case info.Main.Version != "" && info.Main.Version != "(devel)":
		return info.Main.Version
	}
	return "unknown"
}

// Line is what --version prints, without the newline: program, build id, toolchain, platform.
func Line(program, linked string) string {
	return fmt.Sprintf("%s %s (%s %s/%s)", program, Build(linked), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
