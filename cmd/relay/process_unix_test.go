//go:build unix

package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A relay as a process: contract lines on stdout, logs on stderr, the exit code of the signal.
func TestProcessEndsOnSignals(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		signal syscall.Signal
		code   int
	}{{syscall.SIGINT, 130}, {syscall.SIGTERM, 143}} {
		t.Run(tt.signal.String(), func(t *testing.T) {
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), "BACKSTEP_TEST_AS_RELAY=1", "RELAY_LISTEN=127.0.0.1:0", "RELAY_STATE_DIR="+t.TempDir(),
				"RELAY_ADMIN=127.0.0.1:0", "RELAY_LOG_FORMAT=json")
			var logs bytes.Buffer
			cmd.Stderr = &logs
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			stuck := time.AfterFunc(30*time.Second, func() { cmd.Process.Kill() })
			defer stuck.Stop()
			lines := bufio.NewScanner(out)
			if !lines.Scan() || !strings.HasPrefix(lines.Text(), "listening 127.0.0.1:") {
				t.Errorf("first line %q", lines.Text())
			}
			if err := cmd.Process.Signal(tt.signal); err != nil {
				t.Error(err)
			}
			for lines.Scan() {
				t.Errorf("more on stdout: %q", lines.Text())
			}
			cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != tt.code {
				t.Errorf("exit code %d, want %d; logs:\n%s", got, tt.code, logs.String())
			}
			if !strings.Contains(logs.String(), `"event":"start"`) {
				t.Errorf("no start event in the logs:\n%s", logs.String())
			}
		})
	}
}

func TestProcessRefusesInOneSentence(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "--listen", "nowhere")
	cmd.Env = append(os.Environ(), "BACKSTEP_TEST_AS_RELAY=1")
	var out, logs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &logs
	cmd.Run()
	if cmd.ProcessState.ExitCode() != 2 || out.Len() != 0 || strings.Count(logs.String(), "\n") != 1 ||
		strings.Count(logs.String(), "relay:") != 1 {
		t.Errorf("code %d, stdout %q, stderr %q", cmd.ProcessState.ExitCode(), out.String(), logs.String())
	}
}
