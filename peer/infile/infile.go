// Package infile opens files that a player was given: replays, traces, fighters, the evidence of a desync. Whatever
// stands under the name, reading it ends soon and takes no more memory than was allowed.
//
//	plain file      read, up to a bound
//	directory       refused
//	pipe, device    read, if it delivers within Patience; without a writer it is empty
package infile

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// Patience is how long what is no plain file may take to deliver.
const Patience = 5 * time.Second

var patience = Patience // shorter in tests

// maxLine is more bytes than a line of a table has.
const maxLine = 1 << 16

// Errors, wrapped with the name of the file.
var (
	// ErrTooLarge: more bytes than any file of this kind has.
	ErrTooLarge = errors.New("the file is too large")
	// ErrLine: a line of a table is longer than any.
	ErrLine = fmt.Errorf("a line is longer than %d bytes", maxLine)
)

// Open opens a file for reading. It does not wait for the other end of a pipe.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = &fs.PathError{Op: "read", Path: path, Err: syscall.EISDIR}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	if !info.Mode().IsRegular() {
		// What takes no deadline never keeps a reader waiting, as /dev/zero.
		_ = f.SetReadDeadline(time.Now().Add(patience))
	}
	return f, nil
}

// Read reads a whole file of at most so many bytes.
func Read(path string, most int) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err == nil && len(b) > most {
		return nil, fmt.Errorf("%s: %w", path, ErrTooLarge)
	}
	return b, err
}

// Table gives the lines of a text file that may be gzipped: no more than so many bytes once unpacked, no line longer than
// 64 KiB. What is beyond ends with ErrTooLarge or ErrLine. What stands in quotes is of one line, as in CSV; lines that begin
// with # are comments, whose quotes mean nothing. Close the file afterwards.
func Table(f io.Reader, most int64) (io.Reader, error) {
	b := bufio.NewReader(f)
	t := &table{from: b, left: most}
	head, err := b.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if string(head) == "\x1f\x8b" {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, fmt.Errorf("it is damaged: %w", err)
		}
		t.from = z
	}
	return t, nil
}

type table struct {
	from    io.Reader
	left    int64 // bytes
	line    int   // bytes of the line so far
	quoted  bool
	comment bool
}

// Read gives the next bytes.
func (t *table) Read(p []byte) (int, error) {
	n, err := t.from.Read(p)
	if t.left -= int64(n); t.left < 0 {
		return 0, ErrTooLarge
	}
	for _, c := range p[:n] {
		switch {
		case c == '\n' && !t.quoted:
			t.line, t.comment = 0, false
			continue
		case c == '#' && t.line == 0:
			t.comment = true
		case c == '"' && !t.comment:
			t.quoted = !t.quoted
		}
		if t.line++; t.line > maxLine {
			return 0, ErrLine
		}
	}
	return n, err
}
