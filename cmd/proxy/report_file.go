package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// A reportFile is where a report goes: stdout, or a file beside the one that it
// becomes when it is whole.
type reportFile struct {
	io.Writer
	file *os.File // nil: stdout
	name string
}

// createReport begins a file that becomes the one of that name. It finds out
// first whether it can be: reading the log may take a while.
func createReport(name string) (*reportFile, error) {
	mode := os.FileMode(0o666) // the umask's to narrow
	switch info, err := os.Stat(name); {
	case err == nil && !info.Mode().IsRegular():
		return nil, fmt.Errorf("cannot write the report to -o %s: it is no file", shown(name))
	case err == nil: // one that is a link stays one
		if name, err = filepath.EvalSymlinks(name); err != nil {
			return nil, fmt.Errorf("cannot write the report with -o: %w", err)
		}
		mode = info.Mode().Perm()
	}
	temporary := filepath.Join(filepath.Dir(name), fmt.Sprintf(".%s.%d.new", filepath.Base(name), os.Getpid()))
	_ = os.Remove(temporary) // one that a killed process of this number left
	// In a folder that others may write to, one could lie in wait there.
	file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, fmt.Errorf("cannot write the report to -o %s: %w", shown(name), errors.Unwrap(err))
	}
	return &reportFile{file, file, name}, nil
}

// keep makes the file the one that was asked for.
func (r *reportFile) keep() error {
	if r.file == nil {
		return nil
	}
	if err := r.file.Sync(); err != nil {
		return fmt.Errorf("cannot write the report: %w", err)
	}
	if err := r.file.Close(); err != nil {
		return fmt.Errorf("cannot write the report: %w", err)
	}
	if err := os.Rename(r.file.Name(), r.name); err != nil {
		return fmt.Errorf("cannot write the report: %w", err)
	}
	r.file = nil
	return nil
}

// discard takes away what was not kept.
func (r *reportFile) discard() {
	if r.file != nil {
		_ = r.file.Close() // it may be closed, and it goes
		_ = os.Remove(r.file.Name())
	}
}
