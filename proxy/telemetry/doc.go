// Package telemetry names and counts what the proxy does.
//
// # Invariants
//
//  1. No label is unbounded: no session, tenant, request, prefix, path or model
//     is one, and reasons are words of the program, never of a request.
//  2. No metric holds content or a credential (I12).
package telemetry
