package configs

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/seed-9236c7ca/preface/proxy/admin"
)

// pod is the one deployment's pod, with its labels and its one container.
func (m *manifests) pod(t *testing.T) (podSpec, labels, container) {
	t.Helper()
	d := the(t, m.deployments)
	p := d.Spec.Template
	if len(p.Spec.Containers) != 1 {
		t.Fatalf("the pod has %d containers, want one", len(p.Spec.Containers))
	}
	return p.Spec, p.Metadata.Labels, p.Spec.Containers[0]
}

// config is the file that the program is to load, as a path of the pod.
func (c container) config() string { return c.Args[slices.Index(c.Args, "-config")+1] }

// file is the embedded preface.yaml.
func (m *manifests) file(t *testing.T) (text string, c prefaceFile) {
	t.Helper()
	text = the(t, m.configMaps).Data["preface.yaml"]
	if err := yaml.UnmarshalWithOptions([]byte(text), &c, yaml.Strict()); err != nil {
		t.Fatalf("preface.yaml: %v", err)
	}
	return text, c
}

// TestManifestsSelectThePod: everything that picks pods by label picks these.
func TestManifestsSelectThePod(t *testing.T) {
	m := readManifests(t)
	pod, has, _ := m.pod(t)
	selects := func(who string, wants labels) {
		t.Helper()
		if len(wants) == 0 {
			t.Errorf("%s selects every pod of the namespace", who)
		}
		for key, value := range wants {
			if has[key] != value {
				t.Errorf("%s selects %s=%s, but the pod has %q", who, key, value, has)
			}
		}
	}
	selects("the Deployment", the(t, m.deployments).Spec.Selector.MatchLabels)
	selects("the PodDisruptionBudget", the(t, m.disruptions).Spec.Selector.MatchLabels)
	selects("the NetworkPolicy", the(t, m.policies).Spec.PodSelector.MatchLabels)
	for name, s := range m.services {
		selects("Service "+name, s.Spec.Selector)
	}
	for _, s := range pod.Spread {
		selects("the spread over "+s.TopologyKey, s.LabelSelector.MatchLabels)
	}
}

// TestManifestsNamePorts: ports are named in one place, and are those that
// preface.yaml has the program listen on.
func TestManifestsNamePorts(t *testing.T) {
	m := readManifests(t)
	_, _, c := m.pod(t)
	_, file := m.file(t)
	ports := map[string]string{}
	for _, p := range c.Ports {
		ports[p.Name] = fmt.Sprintf(":%d", p.Port)
	}
	if diff := cmp.Diff(map[string]string{"agents": file.Listen, "operators": file.Admin}, ports); diff != "" {
		t.Errorf("the container has other ports than preface.yaml (-preface.yaml +container):\n%s", diff)
	}
	for service, want := range map[string]string{"preface": "agents", "preface-operators": "operators"} {
		ports := m.services[service].Spec.Ports
		if len(ports) != 1 || ports[0].TargetPort != want {
			t.Errorf("Service %s has the ports %+v, want one to %s", service, ports, want)
		}
	}
	opened := []any{}
	for _, rule := range the(t, m.policies).Spec.Ingress {
		if len(rule.From) == 0 {
			t.Error("the NetworkPolicy lets everybody in")
		}
		for _, p := range rule.Ports {
			opened = append(opened, p.Port)
		}
	}
	if !slices.Equal(opened, []any{"agents", "operators"}) {
		t.Errorf("the NetworkPolicy opens %v, want agents and operators", opened)
	}
}

// TestManifestsMountWhatIsThere: each mount has its volume and each volume what
// it is of; and files that preface.yaml names are in one of them.
func TestManifestsMountWhatIsThere(t *testing.T) {
	m := readManifests(t)
	_, _, c := m.pod(t)
	there := m.mounted(t)
	text, file := m.file(t)
	named := []string{c.config(), file.Log.Redis.CA}
	for _, match := range regexp.MustCompile(`\$\{file:([^}]+)\}`).FindAllStringSubmatch(text, -1) {
		named = append(named, match[1])
	}
	for _, con := range file.Contributors {
		for _, p := range con.Paths {
			named = append(named, filepath.Join(con.Root, p))
		}
	}
	for _, name := range named {
		if _, ok := there[name]; !ok && name != "" {
			t.Errorf("%s is named, but no volume has it: %q", name, there)
		}
	}
}

// mounted returns the content of all files that the pod is given, by path; that of
// a Secret is not known.
func (m *manifests) mounted(t *testing.T) map[string]string {
	t.Helper()
	pod, _, c := m.pod(t)
	files := map[string]string{}
	for _, mount := range c.VolumeMounts {
		i := slices.IndexFunc(pod.Volumes, func(v volume) bool { return v.Name == mount.Name })
		if i < 0 || !mount.ReadOnly {
			t.Fatalf("mount %+v has no volume, or may be written", mount)
		}
		switch v := pod.Volumes[i]; {
		case v.ConfigMap != nil:
			data, ok := m.configMaps[v.ConfigMap.Name]
			if !ok {
				t.Fatalf("volume %s is of the ConfigMap %s, which is not there", v.Name, v.ConfigMap.Name)
			}
			for key, text := range data.Data {
				files[mount.MountPath+"/"+key] = text
			}
		case v.Secret != nil:
			for _, item := range v.Secret.Items {
				files[mount.MountPath+"/"+item.Path] = ""
			}
		}
	}
	return files
}

// TestRolloutCutsNothing: three replicas over zones, a new one before an old one
// goes, and time for an old one's answers to end.
func TestRolloutCutsNothing(t *testing.T) {
	m := readManifests(t)
	d := the(t, m.deployments).Spec
	pod, _, c := m.pod(t)
	_, file := m.file(t)
	if r := d.Strategy.RollingUpdate; d.Replicas != 3 || r.MaxUnavailable == nil || *r.MaxUnavailable != 0 || r.MaxSurge < 1 {
		t.Errorf("want 3 replicas with maxUnavailable 0 and maxSurge 1: there are %d, and maxSurge %d", d.Replicas, r.MaxSurge)
	}
	if n := the(t, m.disruptions).Spec.MaxUnavailable; n != 1 {
		t.Errorf("%d replicas may be disrupted at once, want 1", n)
	}
	zones := slices.ContainsFunc(pod.Spread, func(s spreadConstraint) bool {
		return s.TopologyKey == "topology.kubernetes.io/zone" && s.MaxSkew == 1
	})
	if !zones {
		t.Error("the replicas are not spread over zones")
	}
	delay := time.Duration(c.Lifecycle.PreStop.Sleep.Seconds) * time.Second
	if delay < 5*time.Second {
		t.Errorf("the port for agents closes %v after balancers are told: too soon for them to know", delay)
	}
	if idle := file.Timeouts.DrainIdle; idle <= 5*time.Second {
		t.Errorf("idle connections of agents are closed %v after a drain begins, which httpx keeps for 5s", idle)
	}
	drain := file.Timeouts.Drain
	if drain == 0 {
		drain = defaults().Timeouts.Drain
	}
	if grace, least := time.Duration(pod.GracePeriod)*time.Second, delay+drain+closing; grace < least {
		t.Errorf("terminationGracePeriodSeconds is %v, but a stop may take %v", grace, least)
	}
}

// TestProbesAskPagesThatAreServed starts the operators' pages, without a log: one
// that asked it would panic.
func TestProbesAskPagesThatAreServed(t *testing.T) {
	m := readManifests(t)
	_, _, c := m.pod(t)
	ready := true
	pages := admin.New(admin.Deps{
		Ready: func() bool { return ready }, Metrics: http.NotFoundHandler(),
		Reload: func() error { return errors.New("not asked for") },
	})
	get := func(host, path string) int {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Host = host
		pages.ServeHTTP(w, r)
		return w.Code
	}
	const pod = "10.1.2.3:8788" // the kubelet asks the address of the pod
	for name, p := range map[string]probe{"startup": c.Startup, "readiness": c.Readiness, "liveness": c.Liveness} {
		if got := get(pod, p.HTTPGet.Path); got != http.StatusOK || p.HTTPGet.Port != "operators" {
			t.Errorf("the %s probe asks %+v, which is answered with %d", name, p.HTTPGet, got)
		}
	}
	ready = false
	if got := get(pod, c.Readiness.HTTPGet.Path); got != http.StatusServiceUnavailable {
		t.Errorf("while draining, the readiness probe is answered with %d, want 503", got)
	}
	if got := get(pod, c.Liveness.HTTPGet.Path); got != http.StatusOK {
		t.Errorf("while draining, the liveness probe is answered with %d: the pod would be killed", got)
	}
	if got := get("preface-operators:8788", "/healthz"); got == http.StatusOK || m.services["preface-operators"].Spec.ClusterIP != "None" {
		t.Errorf("the operators' pages under their Service's name: %d; headless means that pods are asked by address", got)
	}
}

// TestPodIsRestricted: the pod passes the level of that name, and cannot write.
func TestPodIsRestricted(t *testing.T) {
	pod, _, c := readManifests(t).pod(t)
	s := pod.SecurityContext
	if !s.RunAsNonRoot || s.RunAsUser == 0 || s.SeccompProfile.Type != "RuntimeDefault" {
		t.Errorf("the pod runs as %+v", s)
	}
	if p := c.SecurityContext; p.AllowPrivilegeEscalation == nil || *p.AllowPrivilegeEscalation || !p.ReadOnlyRootFilesystem || !slices.Equal(p.Capabilities.Drop, []string{"ALL"}) {
		t.Errorf("the container runs with %+v", p)
	}
	if pod.ServiceAccountToken == nil || *pod.ServiceAccountToken {
		t.Error("the pod is given a token for Kubernetes")
	}
	if c.Resources.Requests["memory"] == "" || c.Resources.Limits["memory"] == "" || c.Resources.Requests["cpu"] == "" {
		t.Errorf("the container's resources are %+v", c.Resources)
	}
}

// TestManifestsRunTheImage: the program, user and image are those of the
// Containerfile.
func TestManifestsRunTheImage(t *testing.T) {
	pod, _, c := readManifests(t).pod(t)
	user, _, _ := strings.Cut(of(readContainerfile(t), 1, "USER")[0], ":")
	if got := pod.SecurityContext.RunAsUser; user != "65532" || got != 65532 {
		t.Errorf("the pod runs as %d, the image as %s", got, user)
	}
	if !regexp.MustCompile(`:v?\d+\.\d+\.\d+(@sha256:[0-9a-f]{64})?$`).MatchString(c.Image) {
		t.Errorf("the image %s has no version", c.Image)
	}
	checkCommand(t, "kubernetes/deployment.yaml", c.Args)
}

// TestManifestsHoldNoSecret: nothing that is to be kept is in files that are to be
// copied.
func TestManifestsHoldNoSecret(t *testing.T) {
	files, err := filepath.Glob("kubernetes/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text := read(t, name)
		for what, rx := range map[string]string{
			"a Secret":                 `(?m)^kind: Secret`,
			"a password in an address": `://[^/\s]*@`,
			"a password":               `(?im)(^|[\s{,"])(password|token|api_?key|secret): *"?[^$\s"]`,
			"a key":                    `\bsk-|-----BEGIN`,
		} {
			if found := regexp.MustCompile(rx).FindString(text); found != "" {
				t.Errorf("%s holds %s: %q", name, what, found)
			}
		}
	}
}
