package configs

import (
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const unitFile = "systemd/preface.service"

// A setting is one line of a unit.
type setting struct {
	section, key, value string
	line                int
}

// A unit is what a unit file says, in order.
type unit []setting

func readUnit(t *testing.T) unit {
	t.Helper()
	var u unit
	section := ""
	for i, line := range strings.Split(read(t, unitFile), "\n") {
		line = strings.TrimSpace(line)
		key, value, isSetting := strings.Cut(line, "=")
		switch {
		case line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";"):
		case strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]"):
			section = line[1 : len(line)-1]
		case !isSetting || section == "" || strings.HasSuffix(line, `\`):
			t.Errorf("%s:%d: %q is no setting in a section, on one line", unitFile, i+1, line)
		default:
			u = append(u, setting{section, key, value, i + 1})
		}
	}
	return u
}

// get returns the value of a key that is there once.
func (u unit) get(t *testing.T, key string) string {
	t.Helper()
	all := u.all(key)
	if len(all) != 1 {
		t.Fatalf("%s: %s is there %d times, want once", unitFile, key, len(all))
	}
	return all[0]
}

func (u unit) all(key string) []string {
	var values []string
	for _, s := range u {
		if s.key == key {
			values = append(values, s.value)
		}
	}
	return values
}

// span returns a time such as 12min.
func (u unit) span(t *testing.T, key string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(strings.ReplaceAll(u.get(t, key), "min", "m"))
	if err != nil {
		t.Fatalf("%s: %s: %v", unitFile, key, err)
	}
	return d
}

// unitKeys are the keys that the unit may use, by section: systemd ignores one
// that it does not know, so a typing error would quietly open a door. All are in
// systemd 252.
var unitKeys = map[string]string{
	"Unit": "Description Documentation Wants After StartLimitIntervalSec",
	"Service": `Type ExecStart ExecReload Restart RestartSec RestartPreventExitStatus TimeoutStopSec TimeoutStartSec
		DynamicUser StateDirectory StateDirectoryMode UMask WorkingDirectory LoadCredential LimitNOFILE
		CapabilityBoundingSet AmbientCapabilities NoNewPrivileges ProtectSystem ProtectHome PrivateTmp PrivateDevices
		PrivateMounts ProtectClock ProtectControlGroups ProtectHostname ProtectKernelLogs ProtectKernelModules
		ProtectKernelTunables ProtectProc RemoveIPC RestrictAddressFamilies RestrictNamespaces RestrictRealtime
		RestrictSUIDSGID LockPersonality MemoryDenyWriteExecute KeyringMode SystemCallArchitectures SystemCallFilter
		SystemCallErrorNumber`,
	"Install": "WantedBy",
}

func TestUnitKeysAreKnown(t *testing.T) {
	u := readUnit(t)
	for _, s := range u {
		if !slices.Contains(strings.Fields(unitKeys[s.section]), s.key) {
			t.Errorf("%s:%d: [%s] has no key %s that this test knows", unitFile, s.line, s.section, s.key)
		}
	}
	for section, keys := range unitKeys {
		for _, key := range strings.Fields(keys) {
			if !slices.ContainsFunc(u, func(s setting) bool { return s.section == section && s.key == key }) {
				t.Errorf("%s: [%s] lacks %s", unitFile, section, key)
			}
		}
	}
	t.Logf("checked %d settings of %s by our own list", len(u), unitFile)
}

// TestUnitSuitsSystemd asks systemd itself, which also knows what values may be,
// and how much the unit leaves open.
func TestUnitSuitsSystemd(t *testing.T) {
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Logf("systemd-analyze is not installed: %s was checked by our own list of keys only", unitFile)
		return
	}
	u := readUnit(t)
	// It wants the program to be there, which is not installed but built.
	installed := strings.Fields(u.get(t, "ExecStart"))[0]
	path := write(t, t.TempDir(), "preface.service", strings.ReplaceAll(read(t, unitFile), installed, program(t)))
	analyze := func(args ...string) {
		t.Helper()
		out, err := exec.Command(tool, args...).CombinedOutput()
		if err != nil {
			t.Errorf("systemd-analyze %s: %v\n%s", strings.Join(args, " "), err, out)
		} else if args[0] == "verify" && len(out) > 0 { // what it ignores is an error to us
			t.Errorf("systemd-analyze verify complains:\n%s", out)
		}
	}
	analyze("verify", "--man=no", path)
	analyze("security", "--offline=yes", "--threshold=15", "--no-pager", path) // 1.5 of 10
	t.Logf("checked %s by systemd-analyze verify, and its exposure to be at most 1.5 of 10", unitFile)
}

// TestUnitSuitsTheProgram: what the unit says of the program is so.
func TestUnitSuitsTheProgram(t *testing.T) {
	u := readUnit(t)
	checkCommand(t, unitFile, strings.Fields(u.get(t, "ExecStart"))[1:])
	c := defaults()
	if got, least := u.span(t, "TimeoutStopSec"), c.Timeouts.Drain+closing; got < least {
		t.Errorf("TimeoutStopSec is %v, but a stop may take %v (timeouts.drain, and the rest)", got, least)
	}
	files, err := strconv.Atoi(u.get(t, "LimitNOFILE"))
	if least := c.Limits.Conns + len(c.Routes)*c.Limits.Upstream; err != nil || files < least {
		t.Errorf("LimitNOFILE is %s, but limits.conns and limits.upstream of all routes are %d", u.get(t, "LimitNOFILE"), least)
	}
	if got := u.get(t, "ExecReload"); !strings.HasSuffix(got, "kill -HUP $MAINPID") {
		t.Errorf("ExecReload is %q, but the program reloads at SIGHUP", got)
	}
	if dir := u.get(t, "WorkingDirectory"); dir != "/var/lib/"+u.get(t, "StateDirectory") {
		t.Errorf("the program works in %s, which is not its StateDirectory", dir)
	}
}

// TestUnitHoldsNoSecret: a unit can be read by every user of the machine.
func TestUnitHoldsNoSecret(t *testing.T) {
	u := readUnit(t)
	for _, value := range u.all("LoadCredential") {
		if _, from, _ := strings.Cut(value, ":"); !strings.HasPrefix(from, "/") {
			t.Errorf("LoadCredential=%s is not ID:/PATH", value)
		}
	}
	for _, key := range []string{"SetCredential", "Environment"} {
		if len(u.all(key)) > 0 {
			t.Errorf("%s is in the unit; secrets are for LoadCredential", key)
		}
	}
}
