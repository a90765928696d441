package version

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestBuildPrefersTheLinkedID(t *testing.T) {
	if got := Build("v1.2-3-gabc"); got != "v1.2-3-gabc" {
		t.Errorf("Build %q", got)
	}
	if got := Build(""); got == "" {
		t.Error("Build without a linked id is empty")
	}
	if got := Line("relay", "v9"); !strings.HasPrefix(got, "relay v9 (go") {
		t.Errorf("Line %q", got)
	}
}

func TestFromInfo(t *testing.T) {
	set := func(kv ...string) []debug.BuildSetting {
		var s []debug.BuildSetting
		for i := 0; i < len(kv); i += 2 {
			s = append(s, debug.BuildSetting{Key: kv[i], Value: kv[i+1]})
		}
		return s
	}
	for _, tt := range []struct {
		info debug.BuildInfo
		want string
	}{
		{debug.BuildInfo{Settings: set("vcs.revision", "0123456789abcdef0123", "vcs.modified", "false")}, "0123456789ab"},
		{debug.BuildInfo{Settings: set("vcs.revision", "0123456789abcdef0123", "vcs.modified", "true")}, "0123456789ab-dirty"},
		{debug.BuildInfo{Settings: set("vcs.revision", "01")}, "01"},
		{debug.BuildInfo{Main: debug.Module{Version: "v1.0.0"}}, "v1.0.0"},
		{debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "unknown"},
	} {
		if got := fromInfo(&tt.info); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.info, got, tt.want)
		}
	}
}
