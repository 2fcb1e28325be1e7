package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"

	"github.com/seed-9236c7ca/preface/logsink"
	"github.com/seed-9236c7ca/preface/prefixstore/contrib"
	"github.com/seed-9236c7ca/preface/proxy"
	"github.com/seed-9236c7ca/preface/proxy/identity"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// settings are a configuration file with the flags over it, checked and ready
// to serve from.
type settings struct {
	config
	// hash names what the operator wrote, for anchors: the SHA-256 of the file's
	// meaning, unexpanded, and of the flags. It tells nothing of a secret that
	// came from the environment or a file.
	hash  string
	table *usage.Prices
	*expander
}

// agentsFile is the contributor where nothing is configured. It goes into the
// prefix as it is, byte for byte, as one user message without an envelope:
// whoever wants a heading has it in the file.
const agentsFile = "AGENTS.md"

// load reads the configuration and lets the flags win over it. Nothing is
// opened but files. Errors are one line, for a mistake in the file followed by
// that line and a caret; they never show a value that was put in for ${…}.
func load(o options) (*settings, error) {
	s := &settings{config: defaultConfig(), expander: &expander{lookup: os.LookupEnv}}
	written, err := s.read(o.config)
	if err != nil {
		return nil, s.hide(err)
	}
	if o.config == "" && len(o.files) == 0 {
		if info, err := os.Stat(agentsFile); err == nil && info.Mode().IsRegular() {
			s.Contributors = []contrib.Config{{Name: agentsFile, Kind: "file", Paths: []string{agentsFile}}}
		}
	}
	s.SetDefaults()
	nameContributors(s.Contributors)
	if err := o.override(&s.config); err != nil {
		return nil, s.hide(err)
	}
	s.addClosing()
	if s.table, err = loadPrices(s.Prices); err != nil {
		return nil, s.hide(err)
	}
	if err := s.complete(); err != nil {
		return nil, s.hide(inFile(o.config, err))
	}
	s.hash, err = hashOf(written, o, s.Contributors)
	return s, err
}

// read decodes the file over the defaults and returns what it says unexpanded.
func (s *settings) read(name string) (written any, err error) {
	if name == "" {
		return nil, nil
	}
	src, err := readSource("configuration", name)
	if err != nil {
		return nil, err
	}
	if written, err = src.plain(); err != nil {
		return nil, err
	}
	return written, src.into(&s.config, s.expander)
}

// complete checks all that can be checked without opening anything.
func (s *settings) complete() error {
	if err := s.validate(); err != nil {
		return err
	}
	if _, err := identity.New(s.Identity, make([]byte, 32), nil); err != nil {
		return fmt.Errorf("identity: %w", err)
	}
	for _, r := range s.Routes {
		if _, err := s.composer(r); err != nil {
			return fmt.Errorf("route %q: %w", r.Name, err)
		}
	}
	return nil
}

// composer returns what composes a route's prefixes.
func (s *settings) composer(r proxy.RouteConfig) (*contrib.Composer, error) {
	setup := s.setup()
	return setup.Composer(r)
}

// setup is what the proxy is told.
func (s *settings) setup() proxy.Setup {
	return proxy.Setup{Config: s.Config, Contributors: s.Contributors, Hash: s.hash, Prices: s.table}
}

// inFile puts a file's name before an error that has no place in it.
func inFile(name string, err error) error {
	if err == nil || name == "" {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// hashOf names what was written. JSON has one form for equal maps, so comments,
// order and layout of the file do not count.
func hashOf(written any, o options, used []contrib.Config) (string, error) {
	b, err := json.Marshal(struct {
		File                       any
		Listen, Admin, Log, Policy string
		Upstreams, Files           []string
		Implied                    bool // AGENTS.md
	}{written, o.listen, o.admin, o.log, o.policy, o.upstreams, o.files, o.config == "" && len(used) > len(o.files)})
	if err != nil {
		return "", fmt.Errorf("cannot hash the configuration: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// loadLog reads where the header log is and nothing else of the configuration:
// whoever reads a log need not have the secrets that serving takes.
func loadLog(o options) (logsink.Config, error) {
	c := defaultConfig().Log
	if o.config != "" {
		e := &expander{lookup: os.LookupEnv}
		src, err := readSource("configuration", o.config)
		if err == nil {
			err = src.section("log").into(&c, e)
		}
		if err != nil {
			return c.Config, e.hide(err)
		}
	}
	if o.log != "" {
		c.Path = o.log
	}
	return c.Config, inFile(o.config, c.Check())
}
