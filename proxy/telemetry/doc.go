// Package telemetry names and counts what the proxy does.
//
// # Invariants
//
//  1. No label is unbounded: no session, tenant, request, prefix or path is one.
//     Models and reasons that are not known words become "other".
//  2. No metric holds content or a credential (I12).
package telemetry
