//go:build linux

package natlab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// process is a program that runs. Its stderr goes to a file, its stdout is read by line.
type process struct {
	cmd   *exec.Cmd
	log   string
	lines lines
	ended chan struct{}
}

func start(cmd *exec.Cmd, log string) (*process, error) {
	f, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, log: log, lines: lines{all: make(chan string, 64)}, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.lines, f
	if err := cmd.Start(); err != nil {
		f.Close()
		return nil, err
	}
	go func() {
		_ = cmd.Wait() // ProcessState says how it ended
		f.Close()
		close(p.ended)
	}()
	return p, nil
}

// line waits for a line of stdout that begins with mark and returns the rest of it.
func (p *process) line(ctx context.Context, mark string) (string, error) {
	for {
		select {
		case line := <-p.lines.all:
			if value, ok := strings.CutPrefix(line, mark); ok {
				return value, nil
			}
		case <-p.ended:
			return "", fmt.Errorf("it ended at once: %v: %s", p.cmd.ProcessState, lastLine(p.logged()))
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// stop asks it to end and waits.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGINT)
	<-p.ended
}

func (p *process) logged() string {
	b, _ := os.ReadFile(p.log)
	return string(b)
}

// side is what a player left. It waits for its end.
func (p *process) side(report string) Side {
	<-p.ended
	s := Side{Exit: p.cmd.ProcessState.ExitCode(), Log: p.logged()}
	b, err := os.ReadFile(report)
	if err == nil {
		s.JSON = b
		err = json.Unmarshal(b, &s.Report)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.Log += fmt.Sprintf("\nreport: %v", err)
	}
	return s
}

func lastLine(log string) string {
	log = strings.TrimSpace(log)
	return log[strings.LastIndexByte(log, '\n')+1:]
}

// lines cuts a stream into lines. What nobody reads for long is thrown away, so that it never blocks the program.
type lines struct {
	all  chan string
	part []byte
}

func (l *lines) Write(b []byte) (int, error) {
	l.part = append(l.part, b...)
	for {
		i := bytes.IndexByte(l.part, '\n')
		if i < 0 {
			return len(b), nil
		}
		select {
		case l.all <- string(l.part[:i]):
		default:
		}
		l.part = l.part[i+1:]
	}
}
