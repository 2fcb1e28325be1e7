package logtest

import "testing"

// CaseNames returns the names of all cases.
func CaseNames() (names []string) {
	for _, c := range cases {
		names = append(names, c.name)
	}
	return names
}

// RunCase runs one case by name.
func RunCase(t testing.TB, name string, b Backend) {
	for _, c := range cases {
		if c.name == name {
			c.run(t, b)
		}
	}
}
