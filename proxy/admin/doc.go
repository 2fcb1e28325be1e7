// Package admin is what operators see over HTTP: health, metrics, pages about
// sessions and what their caching came to, the same as JSON, and the reload of the
// configuration, on a listener of its own.
//
//	o := admin.NewOverview(reader)
//	defer o.Close()
//	h := admin.New(admin.Deps{Ready: server.Ready, Reload: reload, Overview: o, …})
//	go (&http.Server{Handler: h}).Serve(listener)
//	…
//	o.Observe(request, response) // after each answer, off the path of requests
//
// Lists, sums and charts come from the Overview, in memory; a page about one session
// or request reads it from the log.
//
// # Invariants
//
//  1. Nothing here is for the world. On any but a loopback listener everything but
//     health and metrics takes a token, and without one is not served; and a web
//     page cannot use a browser to reach it: a Host header must be an IP address,
//     localhost or the configured name (against DNS rebinding), requests that a page
//     of another origin makes may not change anything, and no answer allows other
//     origins.
//  2. No answer holds a credential (I12). What it shows of sessions is what the
//     log has: ids that clients chose, hashes of tenants, opening messages, and
//     system, tools and parameters where the capture level holds them.
//  3. It works on readers of the log, bounded in time and number of lines, and so
//     cannot hold up a request of an agent. What an Overview keeps is bounded, too.
//  4. Whatever clients, contributors and providers chose is shown as text: it makes
//     no element, no attribute and no link of a page, and moves no cursor.
//  5. Pages are whole without scripts, load nothing from elsewhere, and hold neither
//     styles nor scripts of their own.
package admin
