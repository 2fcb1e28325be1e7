package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// release is set by the linker where a build has no version of its own:
// go build -ldflags "-X main.release=v1.2.3".
var release string

// buildVersion is the version in anchors, metrics and messages.
func buildVersion() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

func version(_ context.Context, args []string, stdout, _ io.Writer) error {
	fs := newFlags("proxy version", "Prints the program's version, its Go version and platform, and the commit.", "proxy version")
	if err := fs.parseNone(args, stdout); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "preface %s, %s, %s/%s%s\n", buildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH, commit())
	return nil
}

// commit names the commit that was built, if the build knows it.
func commit() string {
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return ""
	}
	var revision, modified string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = ", modified"
		}
	}
	if revision == "" {
		return ""
	}
	return ", commit " + revision + modified
}
