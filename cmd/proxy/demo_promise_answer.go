package main

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/seed-9236c7ca/preface/bench/agent"
	"github.com/seed-9236c7ca/preface/bench/provider"
	"github.com/seed-9236c7ca/preface/internal/legible"
	"github.com/seed-9236c7ca/preface/logsink"
)

// judgeNoLeak: a session is one tenant's, whatever it is called, and nothing of
// its opener is in the requests of another.
func judgeNoLeak(e *evidence, p *demoPromise) {
	owner := map[logsink.Key]*player{}
	for _, c := range e.calls {
		if c.request == nil {
			continue
		}
		k := c.request.Key
		if owner[k] == nil {
			owner[k] = c.player
		}
		if owner[k] != c.player || k != e.keyOf(c.player) {
			p.breaks("%s is in the session of %s", c.ID, owner[k].name)
		}
		for other := range e.sessions {
			if other != k && bytes.Contains(c.wire().Body, []byte(workspaceMark(other))) {
				p.breaks("%s arrived with words made for another session", c.ID)
			}
		}
	}
	tenants := map[string]bool{}
	for k := range owner {
		tenants[k.Tenant] = true
	}
	p.Looked = fmt.Sprintf("%s of %s, two of the same name, never met", legible.Plural(len(owner), "session"), legible.Plural(len(tenants), "tenant"))
}

// judgeAnswers: the agent got the status and the bytes that the provider sent,
// but for a usage chunk that only the proxy had asked for; and the log says so.
func judgeAnswers(e *evidence, p *demoPromise) {
	hidden := 0
	for _, c := range e.calls {
		if c.request == nil || c.response == nil {
			continue // told by I4
		}
		x := c.wire()
		want := x.Answer
		if asksUsage(c.request) {
			want = withoutUsage(want)
			hidden++
		}
		if c.Status != x.Status || !bytes.Equal(c.Answer, want) {
			p.breaks("%s was answered %d with %d bytes, the provider sent %d with %d", c.ID, c.Status, len(c.Answer), x.Status, len(want))
		}
		for _, name := range changedHeaders(c, x) {
			p.breaks("%s was answered with %s %q, the provider sent %q", c.ID, name, c.Header.Values(name), headOf(x).Values(name))
		}
		if c.Status == 200 && (c.response.End == logsink.EndComplete) != (c.Err == nil) {
			p.breaks("%s ended as %q in the log, for its agent with %v", c.ID, c.response.End, c.Err)
		}
	}
	p.Looked = fmt.Sprintf("%s passed on byte for byte, less %s that nobody had asked for", legible.Plural(len(e.calls), "answer"), legible.Plural(hidden, "usage chunk"))
}

// changedHeaders names the headers that the provider sent and the agent got
// otherwise, but for those of one connection.
func changedHeaders(c *sighting, x *provider.Exchange) (names []string) {
	for name, values := range headOf(x) {
		switch name {
		case "Connection", "Transfer-Encoding", "Content-Length":
		default:
			if !slices.Equal(c.Header.Values(name), values) {
				names = append(names, name)
			}
		}
	}
	return names
}

// asksUsage reports whether the proxy had the stream tell usage.
func asksUsage(q *logsink.Request) bool {
	for _, s := range q.Splices {
		if s.Kind == "usage" {
			return true
		}
	}
	return false
}

// withoutUsage takes the chunk out that has no choices.
func withoutUsage(stream []byte) []byte {
	var out []byte
	for chunk := range bytes.SplitAfterSeq(stream, []byte("\n\n")) {
		if !bytes.Contains(chunk, []byte(`"choices":[],`)) {
			out = append(out, chunk...)
		}
	}
	return out
}

// judgeOneSend: each request arrived once, and none arrived that no agent sent.
func judgeOneSend(e *evidence, p *demoPromise) {
	for _, c := range e.calls {
		if len(c.arrived) != 1 {
			p.breaks("%s arrived %d times", c.ID, len(c.arrived))
		}
	}
	for _, x := range e.strange {
		p.breaks("%s %s arrived, which no agent sent", x.Method, x.Path)
	}
	p.Looked = fmt.Sprintf("%s sent, each arrived once", legible.Plural(len(e.calls), "request"))
}

// judgeNumbers: the usage that was recorded is what the provider counted, class
// by class; where it told none, none is recorded.
func judgeNumbers(e *evidence, p *demoPromise) {
	var sum provider.Tokens
	for _, c := range e.calls {
		if c.response == nil {
			continue
		}
		x := c.wire()
		billed := c.Class == agent.ClassTurn || c.Class == agent.ClassTitle
		switch u := c.response.Usage; {
		case (u != nil) != (billed && c.Status == 200):
			p.breaks("%s: usage is recorded: %v, want %v", c.ID, u != nil, billed)
		case u != nil && tokensOf(u) != flat(x.Tokens):
			p.breaks("%s: %+v recorded, the provider counted %+v", c.ID, tokensOf(u), flat(x.Tokens))
		case u != nil && tellsMore(u, x.Dialect):
			p.breaks("%s: usage is recorded of a class that the provider does not report", c.ID)
		}
		sum = sum.Plus(x.Tokens)
	}
	if _, all := e.provider.Totals(); all.Tokens != sum {
		p.breaks("the requests come to %+v tokens, the provider has charged %+v", sum, all.Tokens)
	}
	p.Looked = fmt.Sprintf("%s tokens recorded as the provider charged them", legible.Grouped(sum.Input()+sum.Output))
}

// A tokenCount is usage as any provider tells it: OpenAI does not tell how long
// what was written lives.
type tokenCount struct{ fresh, read, written5m, written1h, writtenElse, output int64 }

func flat(t provider.Tokens) tokenCount {
	return tokenCount{t.Fresh, t.CacheRead, t.Write5m, t.Write1h, t.Write30m + t.Write12h, t.Output}
}

func tokensOf(u *logsink.Usage) tokenCount {
	known := func(counts ...*int64) (n int64) {
		for _, c := range counts {
			if c != nil {
				n += *c
			}
		}
		return n
	}
	return tokenCount{known(u.Fresh), known(u.CacheRead), known(u.Write5m), known(u.Write1h), known(u.Write30m, u.WriteOther), known(u.Output)}
}

// tellsMore reports whether usage has a count, be it 0, of what the dialect does
// not report: OpenAI tells no lifetimes, Anthropic nothing but lifetimes.
func tellsMore(u *logsink.Usage, dialect string) bool {
	if dialect == provider.Anthropic {
		return u.Unsplit != nil || u.Write30m != nil || u.WriteOther != nil
	}
	return u.Unsplit != nil || u.Write5m != nil || u.Write1h != nil || u.Write30m != nil
}

// judgeNoSecret: no API key is in a record, in what records refer to, or in the
// proxy's messages.
func judgeNoSecret(e *evidence, p *demoPromise) {
	keys := map[string]bool{}
	for _, pl := range e.players {
		keys[pl.key] = true
	}
	look := func(where string, b []byte) {
		for key := range keys {
			if bytes.Contains(b, []byte(key)) {
				p.breaks("an API key is in %s", where)
			}
		}
	}
	look("the proxy's messages", []byte(e.messages))
	for _, rec := range e.records {
		look(string(rec.Kind())+" "+rec.ID(), rec.AppendJSON(nil))
	}
	for digest, b := range e.blobs {
		look(digest.String(), b)
	}
	for k, s := range e.sessions {
		for _, a := range s.anchors {
			look(fmt.Sprintf("anchor %d of %s", a.Epoch, k.Session), logsink.Record{Anchor: a}.AppendJSON(nil))
		}
	}
	p.Looked = fmt.Sprintf("%s in none of %s, %s and the proxy's messages", legible.Plural(len(keys), "API key"), legible.Plural(len(e.records), "record"), legible.Plural(len(e.blobs), "blob"))
}

// judgeAbsence: where nothing is composed, nothing is there: the anchor is bare,
// and requests arrive as they were sent.
func judgeAbsence(e *evidence, p *demoPromise) {
	n := 0
	for _, c := range e.calls {
		if !c.player.bare() {
			continue
		}
		n++
		if !bytes.Equal(c.wire().Body, c.Body) {
			p.breaks("%s arrived with %d bytes, its agent sent %d", c.ID, len(c.wire().Body), len(c.Body))
		}
		if want, got := "bare; "+c.player.epochs[0].bare, c.Header.Get("X-Preface-Prefix"); got != want {
			p.breaks("%s was told prefix %q, want %q", c.ID, got, want)
		}
	}
	for _, pl := range e.players {
		for _, a := range e.anchorsOf(pl) {
			if pl.bare() && (a.Injects() || len(a.Messages)+len(a.Renderings) > 0) {
				p.breaks("%s: epoch %d has something to insert", pl.name, a.Epoch)
			}
		}
	}
	if n == 0 {
		p.breaks("no session had an empty opener")
	}
	p.Looked = fmt.Sprintf("%s of a session without an opener arrived as sent", legible.Plural(n, "request"))
}
