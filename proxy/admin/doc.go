// Package admin is what operators see over HTTP: health, metrics, sessions and
// the reload of the configuration, on a listener of its own.
//
//	h := admin.New(admin.Deps{Ready: server.Ready, Reload: reload, …})
//	go (&http.Server{Handler: h}).Serve(listener)
//
// # Invariants
//
//  1. Nothing here is for the world: there is no authentication, so the listener
//     is on loopback unless an operator says otherwise, and a web page cannot use
//     a browser to reach it. A Host header must be an IP address, localhost or the
//     configured name (against DNS rebinding), requests that a page of another
//     origin makes may not change anything, and no answer allows other origins.
//  2. No answer holds a credential (I12). What it shows of sessions is what the
//     log has: ids that clients chose, hashes of tenants, opening messages.
//  3. It works on readers of the log, bounded in time and number of lines, and so
//     cannot hold up a request of an agent.
package admin
