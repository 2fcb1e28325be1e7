package redistest

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	code := Main(m)
	if err := goleak.Find(); err != nil && code == 0 {
		println(err.Error())
		code = 1
	}
	os.Exit(code)
}

func TestServers(t *testing.T) {
	t.Run("single", func(t *testing.T) { Single(t) })
	t.Run("replicas", func(t *testing.T) { StartReplicas(t, 1) })
	t.Run("sentinel", func(t *testing.T) { StartSentinel(t) })
	t.Run("cluster", func(t *testing.T) { StartCluster(t) })
	v, _ := Single(t).Version()
	t.Log(v)
}
