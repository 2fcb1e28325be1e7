//go:build !linux

package report

import "errors"

func swap(a, b string) error { return errors.ErrUnsupported }
