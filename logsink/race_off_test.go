//go:build !race

package logsink_test

const slower = 1
