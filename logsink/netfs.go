package logsink

import "fmt"

// errNetworkFS refuses a log on a network file system: SQLite's WAL needs
// memory that all its processes share and locks that hold, and there it has
// neither. It is checked because the damage would show only later.
func errNetworkFS(name string) error {
	return fmt.Errorf("it is on a network file system (%s), where two hosts can damage it: set log.path to a local disk", name)
}
