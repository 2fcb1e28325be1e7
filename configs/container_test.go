package configs

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const containerFile = "container/Containerfile"

// An instruction is one line of a Containerfile, in a stage that is counted
// from 0.
type instruction struct {
	name, args string
	stage      int
	line       int
}

// instructions are those that the file may use.
var instructions = strings.Fields("FROM ARG ENV WORKDIR COPY RUN USER EXPOSE STOPSIGNAL ENTRYPOINT CMD")

func readContainerfile(t *testing.T) []instruction {
	t.Helper()
	var all []instruction
	stage := -1
	for i, line := range strings.Split(read(t, containerFile), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, args, _ := strings.Cut(line, " ")
		if !slices.Contains(instructions, name) || args == "" || strings.HasSuffix(args, `\`) {
			t.Errorf("%s:%d: %q is no instruction that this test knows, on one line", containerFile, i+1, line)
		}
		if name == "FROM" {
			stage++
		}
		all = append(all, instruction{name, args, stage, i + 1})
	}
	if stage != 1 {
		t.Fatalf("%s has %d stages, want one that builds and one that is shipped", containerFile, stage+1)
	}
	return all
}

// of returns the arguments of a stage's instructions of one name.
func of(all []instruction, stage int, name string) []string {
	var args []string
	for _, in := range all {
		if in.stage == stage && in.name == name {
			args = append(args, in.args)
		}
	}
	return args
}

func TestContainerBuildsWhatMakeBuilds(t *testing.T) {
	recipe := regexp.MustCompile(`(?m)^build:.*\n\t(.+)$`).FindStringSubmatch(read(t, "../Makefile"))
	if recipe == nil {
		t.Fatal("the Makefile has no build target of one line")
	}
	want := strings.ReplaceAll(recipe[1], "$(GO)", "go")
	all := readContainerfile(t)
	if runs := of(all, 0, "RUN"); !slices.Contains(runs, want) {
		t.Errorf("%s runs %q, but make build is %q", containerFile, runs, want)
	}
	_, binary, _ := strings.Cut(want, " -o ")
	binary, _, _ = strings.Cut(binary, " ")
	if copies := of(all, 1, "COPY"); !slices.Contains(copies, "--from=build "+of(all, 0, "WORKDIR")[0]+"/"+binary+" /preface") {
		t.Errorf("%s copies %q, not what was built, %s", containerFile, copies, binary)
	}
}

// TestContainerPinsItsBuilder: to a whole version, which is one that go.mod takes.
func TestContainerPinsItsBuilder(t *testing.T) {
	all := readContainerfile(t)
	from := of(all, 0, "FROM")[0]
	m := regexp.MustCompile(`^docker\.io/library/golang:(\d+\.\d+)\.\d+-[a-z]+(@sha256:[0-9a-f]{64})? AS build$`).FindStringSubmatch(from)
	if m == nil {
		t.Fatalf("%s builds from %q, which is no pinned version of Go", containerFile, from)
	}
	if needs := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read(t, "../go.mod")); needs[1] != m[1] {
		t.Errorf("%s builds with Go %s, but go.mod says %s", containerFile, m[1], needs[1])
	}
	if env := of(all, 0, "ENV"); !slices.Contains(env, "GOTOOLCHAIN=local") {
		t.Errorf("%s may fetch another toolchain: ENV is %q", containerFile, env)
	}
}

// TestContainerShipsNoMoreThanItNeeds: no system, no shell, no root.
func TestContainerShipsNoMoreThanItNeeds(t *testing.T) {
	all := readContainerfile(t)
	if from := of(all, 1, "FROM"); from[0] != "scratch" {
		t.Errorf("%s ships %s", containerFile, from[0])
	}
	if runs := of(all, 1, "RUN"); len(runs) > 0 {
		t.Errorf("%s runs %q where there is no shell", containerFile, runs)
	}
	want := []string{
		"--from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt",
		"--from=build /src/bin/preface /preface",
		"--from=build --chown=65532:65532 /rootfs/var/lib/preface /var/lib/preface",
	}
	if diff := cmp.Diff(want, of(all, 1, "COPY")); diff != "" {
		t.Errorf("%s ships other files (-want +got):\n%s", containerFile, diff)
	}
	if users := of(all, 1, "USER"); !slices.Equal(users, []string{"65532:65532"}) {
		t.Errorf("USER is %q, want one number that is not 0 and owns /var/lib/preface", users)
	}
	if ports := of(all, 1, "EXPOSE"); !slices.Equal(ports, []string{"8787 8788"}) {
		t.Errorf("EXPOSE is %q", ports)
	}
}

// TestContainerRunsTheProgram: with a command and flags that there are.
func TestContainerRunsTheProgram(t *testing.T) {
	all := readContainerfile(t)
	words := func(name string) (list []string) {
		t.Helper()
		if args := of(all, 1, name); len(args) != 1 || json.Unmarshal([]byte(args[0]), &list) != nil {
			t.Fatalf("%s is %q, want it once and as a list", name, args)
		}
		return list
	}
	if got := words("ENTRYPOINT"); !slices.Equal(got, []string{"/preface"}) {
		t.Errorf("ENTRYPOINT is %q", got)
	}
	checkCommand(t, containerFile, words("CMD"))
}

// TestContainerIgnores: what git ignores does not go to the builder.
func TestContainerIgnores(t *testing.T) {
	ignored := strings.Fields(read(t, containerFile+".dockerignore"))
	for pattern := range strings.FieldsSeq(read(t, "../.gitignore")) {
		if !strings.HasPrefix(pattern, "/") { // of any folder
			pattern = "**/" + pattern
		}
		if !slices.Contains(ignored, pattern) {
			t.Errorf("%s.dockerignore lacks %s", containerFile, pattern)
		}
	}
}
