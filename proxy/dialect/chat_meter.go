package dialect

import (
	"bytes"

	"github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"
	"github.com/seed-9236c7ca/preface/proxy/internal/sse"
	"github.com/seed-9236c7ca/preface/proxy/usage"
)

// newChatMeter returns a meter that is a UsageFilter too if the answer is a
// stream.
func newChatMeter(ep Endpoint, stream bool) Meter {
	if stream {
		return new(chatStream)
	}
	return &documentMeter{read: chatAnswer}
}

// maxHeads bounds how many chunks are read for the id and the model alone: a
// host may have sent neither by then, and may never.
const maxHeads = 4

// chatStream reads a stream of Chat Completions chunks.
type chatStream struct {
	split  sse.Splitter
	heads  int // chunks read for the id and the model
	report Report
	filter chunkFilter
}

func (m *chatStream) Write(p []byte) { m.split.Feed(p, m.take) }

func (m *chatStream) Report() Report { return m.report }

func (m *chatStream) take(ev sse.Event) {
	switch {
	case string(ev.Data) == "[DONE]":
		m.report.Terminal = true
	case m.matters(ev.Data):
		readJSON(ev.Data, func(root jsonspan.Value) {
			chatAnswer(root, &m.report)
			if isUsageChunk(root) {
				m.filter.cut(ev)
			}
		})
	}
}

// matters reports whether a chunk can hold anything to report, which nearly
// none of a long stream does. Quotes inside a string are escaped, so what looks
// like a member is one, of the chunk or of something in it.
func (m *chatStream) matters(data []byte) bool {
	if m.heads < maxHeads && (m.report.ID == "" || m.report.Model == "") {
		m.heads++
		return true
	}
	return opens(data, '{', `"usage"`) || givesReason(data) || !opens(data, '[', `"choices"`)
}

// opens reports whether a member with the name, which is given with its quotes,
// has a value that begins with the bracket. Brackets are rarer than names are
// long, which makes this three times as fast as a search for the name.
func opens(data []byte, bracket byte, name string) bool {
	for i := 0; ; i++ {
		n := bytes.IndexByte(data[i:], bracket)
		if n < 0 {
			return false
		}
		i += n
		before, colon := bytes.CutSuffix(trimSpaceRight(data[:i]), []byte(":"))
		if colon && bytes.HasSuffix(trimSpaceRight(before), []byte(name)) {
			return true
		}
	}
}

// givesReason reports whether a finish_reason is a string.
func givesReason(data []byte) bool {
	const name = `finish_reason"`
	for {
		i := bytes.Index(data, []byte(name))
		if i < 0 {
			return false
		}
		data = data[i+len(name):]
		if value, colon := bytes.CutPrefix(bytes.TrimSpace(data), []byte(":")); colon {
			if value = bytes.TrimSpace(value); len(value) > 0 && value[0] == '"' {
				return true
			}
		}
	}
}

func trimSpaceRight(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] <= ' ' {
		b = b[:len(b)-1]
	}
	return b
}

// isUsageChunk reports whether a chunk came only because of
// stream_options.include_usage. A host may also report usage in a chunk that
// has a choice, which is not such a one.
func isUsageChunk(root jsonspan.Value) bool {
	choices := root.Get("choices")
	return choices.Kind() == jsonspan.Array && choices.Len() == 0 && root.Get("usage").Kind() == jsonspan.Object
}

// chatAnswer reads a whole answer, or a chunk over what earlier ones said.
func chatAnswer(root jsonspan.Value, r *Report) {
	setLabel(&r.ID, root.Get("id"))
	setLabel(&r.Model, root.Get("model"))
	setLabel(&r.Tier, root.Get("service_tier"))
	for c := root.Get("choices").First(); c.Exists(); c = c.Next() {
		if n, ok := c.Get("index").Int(); !ok || n == 0 { // of several answers, the first
			setLabel(&r.StopReason, c.Get("finish_reason"))
		}
	}
	if u := root.Get("usage"); u.Kind() == jsonspan.Object {
		r.Usage = chatUsage(u)
	}
	setError(r, root.Get("error"))
}

func chatUsage(u jsonspan.Value) usage.Usage {
	var r reading
	details := u.Get("prompt_tokens_details")
	cached := details.Get("cached_tokens")
	if !cached.Exists() {
		cached = u.Get("prompt_cache_hit_tokens") // DeepSeek
	}
	out := r.tokens(u.Get("completion_tokens"))
	return r.inclusive(usage.Usage{
		CacheRead:  r.tokens(cached),
		WriteOther: r.tokens(details.Get("cache_write_tokens")),
		Output:     out,
		Reasoning:  r.partOf(out, r.tokens(u.Get("completion_tokens_details").Get("reasoning_tokens"))),
	}, r.tokens(u.Get("prompt_tokens")))
}

// inclusive splits an input total that includes reads and writes. Writes that
// are not reported are not billed apart, so they are no reason for doubt; reads
// are, since many hosts do not report theirs. Parts that are more than the
// total leave the rest unknown. OpenAI does not tell the lifetime of a write in
// its usage.
func (r *reading) inclusive(u usage.Usage, input usage.Count) usage.Usage {
	if u.WriteOther.Known {
		input = r.minus(input, u.WriteOther)
	}
	if u.CacheRead.Known {
		u.Fresh = r.minus(input, u.CacheRead)
	} else {
		u.Unsplit = input
	}
	u.Odd = r.odd
	return u
}
