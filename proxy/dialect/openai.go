package dialect

import "github.com/seed-9236c7ca/preface/proxy/internal/jsonspan"

// inSystemSlot reports whether a Chat message or Responses item at the head of
// its list is of the system slot: a message with the role system or developer,
// or Codex's list of tools.
func inSystemSlot(m jsonspan.Value) bool {
	return says(m.Get("role"), "developer", "system") || isToolItem(m)
}

func isToolItem(m jsonspan.Value) bool { return says(m.Get("type"), "additional_tools") }

// afterSystem returns the first message after the longest leading run of the
// system slot: the first of the history, absent if there is none.
func afterSystem(list jsonspan.Value) jsonspan.Value {
	m := list.First()
	for m.Exists() && inSystemSlot(m) {
		m = m.Next()
	}
	return m
}

// placements are the names of the renderings for a client whose own opening has
// one role or the other, and for one that has none in its list of messages.
type placements struct{ developer, system, none string }

// of returns the placement that a list of messages needs.
func (p placements) of(list jsonspan.Value) string {
	switch role := list.First().Get("role"); {
	case role.Is("developer"):
		return p.developer
	case role.Is("system"):
		return p.system
	}
	return p.none
}

// render writes the messages for either role: providers advise against both in
// one request (facts/providers.md 8.2 O13).
func (p placements) render(msgs []Message, write template) ([]Rendering, error) {
	if err := check(msgs); err != nil {
		return nil, err
	}
	return []Rendering{
		render(p.developer, msgs, write, func(role string) string { return openerAs(role, "developer") }),
		render(p.system, msgs, write, func(role string) string { return openerAs(role, "system") }),
	}, nil
}

// readOpener notes the part of the system slot that stands in a list of
// messages, before the first of the history. Its messages are digested only for
// their marks.
func (r *Request) readOpener(d *digester, list, first jsonspan.Value) {
	d.seen.part = MarkInSystem
	for m := list.First(); m != first; m = m.Next() {
		d.message(m)
		d.seen.index++
		if isToolItem(m) {
			r.ToolSpans = append(r.ToolSpans, m.Span())
			r.Tools = r.Tools || m.Get("tools").Len() > 0
			continue
		}
		r.SystemSpans = append(r.SystemSpans, m.Span())
	}
}

// readCaching notes what the request asks of the provider's cache as a whole.
func (r *Request) readCaching(root jsonspan.Value) {
	r.Outline.CacheKey = inner(root.Get("prompt_cache_key"))
	r.Outline.Lifetime = inner(root.Get("prompt_cache_options").Get("ttl"))
}

func openaiError(kind ErrorKind, message string) []byte {
	names := kind.names()
	b := appendMember([]byte(`{"error":{`), "message", errorPrefix+message)
	b = appendMember(append(b, ','), "type", names.openai)
	b = appendMember(append(b, `,"param":null,`...), "code", names.openaiCode)
	return append(b, `}}`...)
}
