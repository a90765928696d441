package logs

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestFormats(t *testing.T) {
	var b bytes.Buffer
	l, err := New(&b, "info", "json", false)
	if err != nil {
		t.Fatal(err)
	}
	l.Debug().Msg("hidden")
	l.Info().Str("name", "Ada").Msg("joined")
	var line map[string]any
	if err := json.Unmarshal(b.Bytes(), &line); err != nil {
		t.Fatalf("%v in %q", err, b.String())
	}
	if line["level"] != "info" || line["name"] != "Ada" || line["message"] != "joined" || line["time"] == nil {
		t.Errorf("line %v", line)
	}

	b.Reset()
	if l, err = New(&b, "INFO", "console", false); err != nil {
		t.Fatal(err)
	}
	l.Info().Str("name", "Ada").Msg("joined")
	if got := b.String(); !strings.Contains(got, "INF joined name=Ada") || strings.Contains(got, "\x1b") {
		t.Errorf("console line %q", got)
	}
}

func TestRefusals(t *testing.T) {
	for _, tt := range []struct{ level, format, want string }{
		{"loud", "json", `--log-level "loud"`},
		{"", "json", "--log-level"},
		{"info", "xml", `--log-format "xml"`},
	} {
		if _, err := New(&bytes.Buffer{}, tt.level, tt.format, false); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q %q: %v", tt.level, tt.format, err)
		}
	}
}
