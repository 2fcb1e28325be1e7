// Package sdktest has nothing but tests: the official Go SDKs talk to the
// simulated provider, once directly and once through the program, and must be
// given the same.
//
// It is a module of its own, since the SDKs' dependencies are none of ours:
//
//	cd internal/sdktest && go test ./...
package sdktest
