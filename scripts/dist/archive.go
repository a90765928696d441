package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// entry is one file of an archive: its name there, where it comes from, its mode.
type entry struct {
	name, from string
	mode       fs.FileMode
}

func tarGz(w io.Writer, dir string, entries []entry, stamp time.Time) error {
	zw, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	tw := tar.NewWriter(zw)
	for _, e := range entries {
		b, err := os.ReadFile(e.from)
		if err != nil {
			return err
		}
		header := &tar.Header{Name: dir + "/" + e.name, Mode: int64(e.mode), Size: int64(len(b)), ModTime: stamp, Format: tar.FormatPAX}
		if err := tw.WriteHeader(header); err != nil {
			return err
		}
		if _, err := tw.Write(b); err != nil {
			return err
		}
	}
	return errors.Join(tw.Close(), zw.Close())
}

func zipped(w io.Writer, dir string, entries []entry, stamp time.Time) error {
	zw := zip.NewWriter(w)
	for _, e := range entries {
		b, err := os.ReadFile(e.from)
		if err != nil {
			return err
		}
		header := &zip.FileHeader{Name: dir + "/" + e.name, Method: zip.Deflate, Modified: stamp}
		header.SetMode(e.mode)
		ew, err := zw.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := ew.Write(b); err != nil {
			return err
		}
	}
	return zw.Close()
}
