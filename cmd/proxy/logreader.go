package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-9236c7ca/preface/logsink"
)

// openReader opens the log that the flags name, to read only.
func openReader(ctx context.Context, o options) (logsink.Reader, error) {
	c, err := loadLog(o)
	if err != nil {
		return nil, err
	}
	return logsink.OpenReader(ctx, c)
}

// openSession opens a log to look at one session of it. The caller closes the
// log.
func openSession(ctx context.Context, o options, id, tenant string) (logsink.Reader, logsink.SessionInfo, error) {
	r, err := openReader(ctx, o)
	if err != nil {
		return nil, logsink.SessionInfo{}, err
	}
	s, err := pick(ctx, r, id, tenant)
	if err != nil {
		return nil, s, errors.Join(err, r.Close())
	}
	return r, s, nil
}

// pick finds the one session that id means: the one of that name, else the only
// one whose name begins so. tenant, or the beginning of one, chooses among
// sessions of the same name.
func pick(ctx context.Context, r logsink.Reader, id, tenant string) (logsink.SessionInfo, error) {
	var same, begin []logsink.SessionInfo
	err := r.Sessions(ctx, wholeTenant(tenant), id, func(s logsink.SessionInfo) bool {
		if !strings.HasPrefix(s.Tenant, tenant) {
			return true
		}
		if s.Session == id {
			same = append(same, s)
		}
		begin = append(begin, s)
		return true
	})
	switch {
	case err != nil:
		return logsink.SessionInfo{}, err
	case len(same) == 1:
		return same[0], nil
	case len(same) > 1:
		return logsink.SessionInfo{}, fmt.Errorf("session %s is the name of %d sessions of different tenants; choose one with -tenant: %s", shown(id), len(same), strings.Join(tenantsOf(same), ", "))
	case len(begin) == 1:
		return begin[0], nil
	case len(begin) > 1:
		return logsink.SessionInfo{}, fmt.Errorf("%s is the beginning of %d sessions; write more of the name", shown(id), len(begin))
	}
	return logsink.SessionInfo{}, fmt.Errorf("session %s is not in the log; %s lists those that are", shown(id), asCalled("proxy sessions"))
}

// wholeTenant returns tenant if it is a whole hash, by which the log can
// choose; else "", and the caller compares beginnings.
func wholeTenant(tenant string) string {
	if len(tenant) == 32 {
		return tenant
	}
	return ""
}

func tenantsOf(list []logsink.SessionInfo) []string {
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Tenant
	}
	return names
}
