package main

import (
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"backstep/cmd/internal/exit"
)

// write makes a file with the content.
func write(t *testing.T, name, content string) string {
	t.Helper()
	f := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(f, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return f
}

// cutGzip is a gzipped trace that ends too early.
func cutGzip(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte("frame,w1\n" + strings.Repeat("0,00f\n", 5000))); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return write(t, "cut.csv.gz", b.String()[:b.Len()-12])
}

// Every mistake is found before anything is opened, ends with code 2 and says in one sentence what is wrong.
func TestMistakes(t *testing.T) {
	trace := traceFile(t)
	trouble := func(content string) string { return "trace:" + write(t, "bad.csv", content) + ":w1" }
	headless := []string{"host", "--relay", "127.0.0.1:1", "--headless"}
	with := func(args ...string) []string { return append(append([]string{}, headless...), args...) }
	bot := func(args ...string) []string { return with(append([]string{"--input", "bot:easy"}, args...)...) }
	join := func(args ...string) []string {
		return append([]string{"join", "--headless", "--input", "bot:easy"}, args...)
	}
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"nothing to do without the page", []string{"--headless", "--input", "bot:easy"}, "say what to do"},
		{"command", []string{"fight"}, `unknown command "fight"`},
		{"flag", bot("--impare", "x"), "unknown flag --impare"},
		{"single dash flag", bot("-impare=x"), "unknown flag -impare"},
		{"flag without value", bot("--frames"), "--frames needs a value"},
		{"doctor with argument", []string{"doctor", "now"}, "takes no argument"},
		{"doctor with a flag of matches", []string{"doctor", "--frames", "3"}, "does not belong"},
		{"doctor with a bad relay", []string{"doctor", "--relay", "a b"}, "--relay"},
		{"json elsewhere", bot("--json"), "--json is for peer doctor"},
		{"host with argument", bot("BCDF-GHJK"), "takes no argument"},
		{"play with argument", []string{"play", "now"}, "takes no argument"},
		{"play with relay", []string{"play", "--relay", "127.0.0.1:1"}, "runs its own relay"},
		{"headless page", headless, "--headless needs --input"},
		{"replay nothing", []string{"replay"}, "peer replay verify FILE"},
		{"mode", bot("--mode", "turbo"), "is unknown"},

		{"source", with("--input", "joystick"), "neither trace:FILE:COLUMN nor bot:NAME"},
		{"source without column", with("--input", "trace:x.csv"), "should be trace:FILE:COLUMN"},
		{"bot", with("--input", "bot:nobody"), "unknown bot"},
		{"bot seed", with("--input", "bot:easy:x"), "whole number"},
		{"no trace", with("--input", "trace:"+trace+".missing:w1"), "no such file"},
		{"directory as trace", with("--input", "trace:"+t.TempDir()+":w1"), "directory"},
		{"column", with("--input", "trace:"+trace+":w3"), `no column "w3"`},
		{"empty trace", with("--input", trouble("")), "no header row"},
		{"header only", with("--input", trouble("# c\nframe,w1\n")), "no data row"},
		{"not hexadecimal", with("--input", trouble("frame,w1\n0,00f\n1,zap\n")), `line 3: "zap" is not a hexadecimal word`},
		{"negative", with("--input", trouble("frame,w1\n0,-1\n")), "not a hexadecimal word"},
		{"high bit", with("--input", trouble("frame,w1\n0,1000\n")), "bit above 11"},
		{"short row", with("--input", trouble("frame,w1\n0\n")), "wrong number of fields"},
		{"cut gzip", with("--input", "trace:"+cutGzip(t)+":w1"), "unexpected EOF"},
		{"no gzip", with("--input", trouble("\x1f\x8bnonsense")), "damaged"},

		{"impair key", bot("--impair", "latency=4ms"), `unknown key "latency"`},
		{"impair value", bot("--impair", "loss=120%"), "0% to 100%"},
		{"impair unit", bot("--impair", "loss=0.1"), "0% to 100%"},
		{"impair NaN", bot("--impair", "loss=NaN%"), "0% to 100%"},
		{"impair burst", bot("--impair", "burst=5ms"), "good/bad"},
		{"impair twice", bot("--impair", "dup=1%,dup=2%"), "given twice"},
		{"impair trace", bot("--impair", "trace=/missing/file"), "no such file"},

		{"frames", bot("--frames", "-1"), "--frames is -1"},
		{"many frames", bot("--frames", "99999999999"), "--frames"},
		{"window", bot("--window", "21"), "must be 1 to 20"},
		{"no window", bot("--window", "0"), "must be 1 to 20"},
		{"delay", bot("--delay", "-1"), "--delay is -1"},
		{"delay word", bot("--delay", "some"), "number of frames"},
		{"fec", bot("--fec", "magic"), "--fec"},
		{"seed", bot("--seed", "-4"), "whole number"},
		{"secret half", bot("--secret-symbols", "5"), "must be 4, 6 or 8"},
		{"no secret half", bot("--secret-symbols", "0"), "must be 4, 6 or 8"},
		{"seed of nothing", bot("--seed", "0x"), "whole number"},
		{"seed in base 16 without 0x", bot("--seed", "00ff"), "hexadecimal"},
		{"seed too large", bot("--seed", "0x10000000000000000"), "2^64"},
		{"ruleset", bot("--ruleset", "chess"), "--ruleset"},
		{"format", bot("--format", "9v9"), "--format"},
		{"team", bot("--team", "nobody"), "unknown fighter"},
		{"rounds", bot("--rounds", "0"), "--rounds is 0"},
		{"ranked seed", bot("--ranked", "--seed", "4"), "exclude each other"},
		{"path", bot("--path", "pigeon"), "pigeon"},
		{"timeout", bot("--timeout", "0"), "--timeout is 0s"},
		{"wait", bot("--wait", "1ms"), "--wait is 1ms"},
		{"duration", bot("--wait", "soon"), "--wait"},
		{"relay", []string{"host", "--headless", "--input", "bot:easy", "--relay", "host:99999"}, "--relay"},
		{"log level", bot("--log-level", "loud"), "--log-level"},
		{"log format", bot("--log-format", "xml"), "--log-format"},

		{"code too short", join("BCDF"), "not a lobby code"},
		{"code letters", join("ABCD-EFGH@127.0.0.1:1"), "codes have no"},
		{"code too long", join("BCDF-GHJKMNPQRT@127.0.0.1:1"), "not a lobby code"},
		{"code without relay", join("BCDF-GHJK"), "does not name a relay"},
		{"code with bad relay", join("BCDF-GHJK@:1"), "relay"},
		{"no code", join(), "no lobby code was given"},

		{"unknown key", bot("--config", write(t, "a.conf", "window 4\nwindoe 4\n")), `unknown key "windoe"`},
		{"bad value in file", bot("--config", write(t, "b.conf", "frames lots\n")), "b.conf:1"},
		{"no config file", bot("--config", "/missing/file"), "cannot read the configuration file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out, logs strings.Builder
			err := run(t.Context(), tt.args, streams{in: strings.NewReader(""), out: &out, err: &logs})
			if exit.Code(err) != exit.Usage {
				t.Fatalf("code %d: %v", exit.Code(err), err)
			}
			if s := sentence(err); !strings.Contains(s, tt.want) || strings.ContainsAny(s, "\n\x1b") {
				t.Errorf("it says %q, which should contain %q", s, tt.want)
			}
			if out.Len() != 0 {
				t.Errorf("stdout: %q", out.String())
			}
		})
	}
}

// A report or record that could not be written is found out before the match, not after it.
func TestUnwritableFiles(t *testing.T) {
	for _, name := range []string{"report", "record"} {
		for _, file := range []string{t.TempDir(), filepath.Join(t.TempDir(), "missing", "file")} {
			var out strings.Builder
			err := run(t.Context(), []string{"host", "--headless", "--input", "bot:easy", "--relay", "127.0.0.1:1", "--" + name, file},
				streams{in: strings.NewReader(""), out: &out, err: &out})
			if exit.Code(err) != exit.Internal || !strings.Contains(sentence(err), "--"+name+" cannot be written") || out.Len() != 0 {
				t.Errorf("--%s %s: code %d, %v, output %q", name, file, exit.Code(err), err, out.String())
			}
		}
	}
}

// A sentence stays one line whatever was in a file or came over the network.
func TestSentence(t *testing.T) {
	err := exit.With(2, os.ErrNotExist)
	if got := sentence(err); got != "file does not exist" {
		t.Errorf("%q", got)
	}
	if got := sentence(errors.Join(os.ErrNotExist, os.ErrExist)); got != "file does not exist; file already exists" {
		t.Errorf("%q", got)
	}
	_, err = os.Open("a\nb\x1b[2J\u202ec\u2028d" + strings.Repeat("\u0300", 9))
	if got := sentence(err); strings.ContainsAny(got, "\n\x1b\u202e\u2028") || strings.Contains(got, "\u0300\u0300\u0300") {
		t.Errorf("%q", got)
	}
}

// Flags stand before or after arguments, with one or two dashes; environment and file fill what they leave open.
func TestSettings(t *testing.T) {
	conf := write(t, "peer.conf", "window 5\nfec rs\n# comment\nname = \"Ada L\"\n")
	t.Setenv("BACKSTEP_WINDOW", "6")
	t.Setenv("BACKSTEP_RELAY", "relay.example.net,127.0.0.1:4000")
	t.Setenv("BACKSTEP_RELAY_TOKEN", "hunter2")
	for _, args := range [][]string{
		{"join", "BCDF-GHJK", "--frames", "7", "-delay=2", "--config", conf, "--print-config"},
		{"--frames=7", "-delay", "2", "-print-config", "--config=" + conf, "join", "BCDF-GHJK"},
	} {
		var out strings.Builder
		if err := run(t.Context(), args, streams{in: strings.NewReader(""), out: &out, err: &out}); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"frames = 7  # flag\n", "delay = 2  # flag\n", "window = 6  # env BACKSTEP_WINDOW\n", "fec = rs  # file " + conf + ":2\n",
			"name = \"Ada L\"  # file " + conf + ":4\n", "relay = relay.example.net,127.0.0.1:4000  # env BACKSTEP_RELAY\n",
			"relay-token = ********  # env BACKSTEP_RELAY_TOKEN\n", "timeout = 10s  # default\n",
		} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%v: %q is not in\n%s", args, want, out.String())
			}
		}
		if strings.Contains(out.String(), "hunter2") {
			t.Error("the token shows")
		}
	}
	for _, args := range [][]string{{"--version"}, {"host", "-version"}} {
		var out strings.Builder
		if err := run(t.Context(), args, streams{out: &out, err: &out}); err != nil || !strings.HasPrefix(out.String(), "peer ") {
			t.Errorf("%v: %q, %v", args, out.String(), err)
		}
	}
}

// A directory for the player's files that cannot be used is found out before the match, with and without the page.
func TestUnusableDataDir(t *testing.T) {
	for _, dir := range []string{write(t, "file", "x"), filepath.Join(write(t, "file", "x"), "below"), "/dev/null/x"} {
		for _, args := range [][]string{{"host", "--headless", "--input", "bot:easy", "--relay", "127.0.0.1:1"}, {"play", "--headless"}, {"join", "--browser", "none"}, {"train", "--browser", "none"}} {
			var out strings.Builder
			err := run(t.Context(), append(args, "--data-dir", dir), streams{in: strings.NewReader(""), out: &out, err: &out})
			if exit.Code(err) != exit.Internal || !strings.Contains(sentence(err), "give another one with --data-dir") || out.Len() != 0 {
				t.Errorf("%v with %s: code %d, %v, output %q", args, dir, exit.Code(err), err, out.String())
			}
		}
	}
}
