package configs

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// The schema of the manifests: the fields of Kubernetes that they use, and no
// others, so that a typing error or a field at the wrong depth is an error here
// and not in a cluster.

type object[Spec any] struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   metadata
	Spec       Spec
}

type metadata struct {
	Name   string
	Labels labels
}

type labels map[string]string

type selector struct {
	MatchLabels labels `yaml:"matchLabels"`
}

type configMap struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   metadata
	Data       map[string]string
}

type deploymentSpec struct {
	Replicas int
	Selector selector
	Strategy struct {
		Type          string
		RollingUpdate struct {
			MaxUnavailable *int `yaml:"maxUnavailable"`
			MaxSurge       int  `yaml:"maxSurge"`
		} `yaml:"rollingUpdate"`
	}
	MinReadySeconds int `yaml:"minReadySeconds"`
	Template        struct {
		Metadata metadata
		Spec     podSpec
	}
}

type podSpec struct {
	GracePeriod         int                `yaml:"terminationGracePeriodSeconds"`
	ServiceAccountToken *bool              `yaml:"automountServiceAccountToken"`
	ServiceLinks        *bool              `yaml:"enableServiceLinks"`
	Spread              []spreadConstraint `yaml:"topologySpreadConstraints"`
	SecurityContext     struct {
		RunAsNonRoot   bool                  `yaml:"runAsNonRoot"`
		RunAsUser      int                   `yaml:"runAsUser"`
		RunAsGroup     int                   `yaml:"runAsGroup"`
		FSGroup        int                   `yaml:"fsGroup"`
		SeccompProfile struct{ Type string } `yaml:"seccompProfile"`
	} `yaml:"securityContext"`
	Containers []container
	Volumes    []volume
}

type spreadConstraint struct {
	TopologyKey       string   `yaml:"topologyKey"`
	MaxSkew           int      `yaml:"maxSkew"`
	WhenUnsatisfiable string   `yaml:"whenUnsatisfiable"`
	LabelSelector     selector `yaml:"labelSelector"`
	MatchLabelKeys    []string `yaml:"matchLabelKeys"`
}

type container struct {
	Name, Image string
	PullPolicy  string `yaml:"imagePullPolicy"`
	Args        []string
	Env         []struct{ Name, Value string }
	Ports       []struct {
		Name string
		Port int `yaml:"containerPort"`
	}
	Startup   probe `yaml:"startupProbe"`
	Readiness probe `yaml:"readinessProbe"`
	Liveness  probe `yaml:"livenessProbe"`
	Lifecycle struct {
		PreStop struct{ Sleep struct{ Seconds int } } `yaml:"preStop"`
	}
	Resources       struct{ Requests, Limits map[string]string }
	SecurityContext struct {
		AllowPrivilegeEscalation *bool `yaml:"allowPrivilegeEscalation"`
		ReadOnlyRootFilesystem   bool  `yaml:"readOnlyRootFilesystem"`
		Capabilities             struct{ Drop []string }
	} `yaml:"securityContext"`
	VolumeMounts []mount `yaml:"volumeMounts"`
}

type probe struct {
	HTTPGet          struct{ Path, Port string } `yaml:"httpGet"`
	PeriodSeconds    int                         `yaml:"periodSeconds"`
	TimeoutSeconds   int                         `yaml:"timeoutSeconds"`
	FailureThreshold int                         `yaml:"failureThreshold"`
}

type mount struct {
	Name      string
	MountPath string `yaml:"mountPath"`
	ReadOnly  bool   `yaml:"readOnly"`
}

type volume struct {
	Name      string
	ConfigMap *struct{ Name string } `yaml:"configMap"`
	Secret    *struct {
		SecretName  string `yaml:"secretName"`
		DefaultMode int    `yaml:"defaultMode"`
		Items       []struct{ Key, Path string }
	}
}

type serviceSpec struct {
	Type            string
	ClusterIP       string `yaml:"clusterIP"`
	SessionAffinity string `yaml:"sessionAffinity"`
	PublishNotReady bool   `yaml:"publishNotReadyAddresses"`
	Selector        labels
	Ports           []struct {
		Name        string
		Port        int
		TargetPort  string `yaml:"targetPort"`
		AppProtocol string `yaml:"appProtocol"`
	}
}

type disruptionSpec struct {
	MaxUnavailable int    `yaml:"maxUnavailable"`
	Unhealthy      string `yaml:"unhealthyPodEvictionPolicy"`
	Selector       selector
}

type policySpec struct {
	PodSelector selector `yaml:"podSelector"`
	PolicyTypes []string `yaml:"policyTypes"`
	Ingress     []struct {
		From  []peer
		Ports []policyPort
	}
	Egress []struct {
		To    []peer
		Ports []policyPort
	}
}

type peer struct {
	NamespaceSelector selector `yaml:"namespaceSelector"`
	PodSelector       selector `yaml:"podSelector"`
	IPBlock           struct {
		CIDR   string
		Except []string
	} `yaml:"ipBlock"`
}

type policyPort struct {
	Protocol string
	Port     any // a number, or a container port's name
}

// prefaceFile is what the manifests depend on in the program's own file. That the
// rest is right is for the program to say.
type prefaceFile struct {
	Listen, Admin string
	AdminToken    string `yaml:"admin_token"`
	Contributors  []struct {
		Name, Kind, Root string
		Paths            []string
	}
	Log struct {
		Path, Durability string
		Unsafe           bool
		Redis            struct{ Username, Password, CA string }
	}
	Burst  struct{ Hold time.Duration }
	Limits struct {
		InFlight int `yaml:"in_flight"`
	}
	Timeouts struct {
		Drain     time.Duration
		DrainIdle time.Duration `yaml:"drain_idle"`
	}
	Logging struct{ Format string }
}

// manifests are all documents of the folder, by kind and name.
type manifests struct {
	deployments map[string]object[deploymentSpec]
	services    map[string]object[serviceSpec]
	disruptions map[string]object[disruptionSpec]
	policies    map[string]object[policySpec]
	configMaps  map[string]configMap
}

func readManifests(t *testing.T) *manifests {
	t.Helper()
	files, err := filepath.Glob("kubernetes/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no manifests: %v", err)
	}
	m := &manifests{
		map[string]object[deploymentSpec]{}, map[string]object[serviceSpec]{}, map[string]object[disruptionSpec]{},
		map[string]object[policySpec]{}, map[string]configMap{},
	}
	for _, name := range files {
		file, err := parser.ParseFile(name, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range file.Docs {
			if err := m.add(doc.Body); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	return m
}

// add reads one document.
func (m *manifests) add(doc ast.Node) error {
	var what struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
	}
	if err := yaml.NodeToValue(doc, &what); err != nil {
		return err
	}
	switch what.APIVersion + " " + what.Kind {
	case "apps/v1 Deployment":
		return put(m.deployments, doc, func(o object[deploymentSpec]) string { return o.Metadata.Name })
	case "v1 Service":
		return put(m.services, doc, func(o object[serviceSpec]) string { return o.Metadata.Name })
	case "policy/v1 PodDisruptionBudget":
		return put(m.disruptions, doc, func(o object[disruptionSpec]) string { return o.Metadata.Name })
	case "networking.k8s.io/v1 NetworkPolicy":
		return put(m.policies, doc, func(o object[policySpec]) string { return o.Metadata.Name })
	case "v1 ConfigMap":
		return put(m.configMaps, doc, func(c configMap) string { return c.Metadata.Name })
	}
	return fmt.Errorf("a document is of the kind %+v, which the schema does not have", what)
}

// put decodes a document strictly and puts it under its name.
func put[T any](into map[string]T, doc ast.Node, name func(T) string) error {
	var v T
	if err := yaml.NodeToValue(doc, &v, yaml.Strict()); err != nil {
		return err
	}
	if _, twice := into[name(v)]; twice || name(v) == "" {
		return errors.New("two documents of a kind have one name, or one has none: " + name(v))
	}
	into[name(v)] = v
	return nil
}

// the returns the one document of a kind.
func the[T any](t *testing.T, all map[string]T) T {
	t.Helper()
	var one T
	if len(all) != 1 {
		t.Fatalf("there are %d documents with a %T, want one", len(all), one)
	}
	for _, one = range all {
	}
	return one
}
