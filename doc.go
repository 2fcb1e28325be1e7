// Package preface holds the rules of this module that a machine can check. The
// program is in cmd/proxy; what it promises is in package proxy.
package preface
