//go:build !amd64

package jsonspan

func Portable() (undo func()) { return func() {} }

func Wide() bool { return false }
