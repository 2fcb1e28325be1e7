// Package telemetry names and counts what the proxy does, and exports it to
// OpenTelemetry: spans of each exchange, and the metrics.
//
// # Invariants
//
//  1. No label is unbounded: no session, tenant, request, prefix, path or model
//     is one, and reasons are words of the program, never of a request.
//  2. No metric and no span holds content or a credential (I12); strings of
//     clients in spans are cut, and valid UTF-8.
//  3. Nobody waits for a collector. What waits for it is bounded (I10), and what
//     is lost is counted.
//  4. Nothing is exported where neither a variable nor a setting asks for it.
//  5. Of GenAI names one set is used, never both.
package telemetry
