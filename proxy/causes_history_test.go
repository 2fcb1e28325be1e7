package proxy_test

import (
	"slices"

	"github.com/seed-9236c7ca/preface/proxy/explain"
)

var (
	history = byClient(explain.HistoryRewritten, explain.SectionHistory)
	images  = byClient(explain.ImageChanged, explain.SectionHistory)
)

const reminder = "<system-reminder>Skills: deploy, review.</system-reminder> "

// showing puts an image beside what the user says in a turn.
func showing(turn int, data string) func(*talk) {
	return func(c *talk) { c.turns[turn].parts = append(c.turns[turn].parts, image(data)) }
}

// historyCauses change what was said.
var historyCauses = []cause{
	{name: "first message edited", in: all, change: func(c *talk) { c.edit(0, "Mend the parser", "Mend the scanner") }, want: history, detail: "edited", at: "Mend the scanner"},
	{name: "answer edited", in: all, change: func(c *talk) { c.edit(3, "File 0 is fine", "File 0 is broken") }, want: history, detail: "edited", at: "File 0 is broken"},
	{name: "question edited", in: all, change: func(c *talk) { c.edit(4, "Go on with 0", "Go on after 0") }, want: history, detail: "edited", at: "Go on after 0"},
	{name: "tool result cut", in: all, change: func(c *talk) { c.turns[2].parts[0].text = "[old tool result removed]" }, want: history, detail: "tool result", at: "[old tool"},
	{name: "oldest turns dropped", in: all, change: func(c *talk) { c.turns = slices.Delete(c.turns, 1, 5) }, want: history, detail: "dropped", at: "I look at file 1"},
	{name: "first turn dropped", in: all, change: func(c *talk) { c.turns = c.turns[4:] }, want: history, detail: "dropped", at: "Go on with 0"},
	{name: "message inserted", in: all, change: func(c *talk) {
		c.turns = slices.Insert(c.turns, 1, assistant(text("Which parser?")), user(text("That of lists.")))
	}, want: history, detail: "inserted", at: "Which parser"},
	{name: "turns reordered", in: all, change: func(c *talk) {
		for i := 1; i <= 4; i++ {
			c.turns[i], c.turns[i+4] = c.turns[i+4], c.turns[i]
		}
	}, want: history, detail: "reordered", at: "I look at file 1"},
	{name: "compacted by the client", in: all, change: func(c *talk) {
		c.turns = []turn{user(text("The story so far: " + words("it was long.", 200))), assistant(text("I see.")), user(text("Go on."))}
	}, want: history, detail: "compacted", at: "The story so far", nobody: true},
	{name: "rewound to another branch", in: all, change: func(c *talk) {
		c.turns = append(c.turns[:5], assistant(text("Otherwise, then.")), user(text("Yes, otherwise.")))
	}, want: history, detail: "rewound to message", at: "Otherwise", nobody: true},
	{name: "compacted in the history", in: haveDiag, change: func(c *talk) {
		block := `{"type":"compaction","content":"A summary of it all."}`
		if c.dialect == responses {
			block = `{"type":"compaction","encrypted_content":"QUJD"}`
		}
		c.turns = []turn{assistant(raw(block), text("Going on.")), user(text("Do. " + words("And then the rest.", 300)))}
	}, want: history, detail: "compacted", at: "compaction", nobody: true},

	{name: "image replaced", in: all, before: showing(0, "AAAA"), change: func(c *talk) { c.turns[0].parts[1].text = "BBBB" }, want: images, detail: "replaced", at: ""},
	{name: "image removed", in: all, before: showing(0, "AAAA"), change: func(c *talk) { c.turns[0].parts = c.turns[0].parts[:1] }, want: images, detail: "removed", at: ""},
	{name: "image added to what was said", in: all, change: showing(0, "AAAA"), want: images, detail: "added", at: ""},
	{name: "first image of all", in: claudes, change: func(c *talk) { showing(len(c.turns)-1, "AAAA")(c) }, want: images, detail: "brought an image", nobody: true},

	{name: "thinking dropped by the client", in: []flavor{claudes[0]}, play: thinkingDropped,
		want: byClient(explain.ThinkingDropped, explain.SectionHistory), detail: "thinking"},
	{name: "thinking dropped by the client", in: only(gpts, responses), before: func(c *talk) {
		thought := raw(`{"type":"reasoning","summary":[],"encrypted_content":"QUJDREVG"}`)
		c.turns[3].parts = slices.Insert(c.turns[3].parts, 0, thought)
	}, change: func(c *talk) { c.turns[3].parts = c.turns[3].parts[1:] },
		want: byClient(explain.ThinkingDropped, explain.SectionHistory), detail: "thinking"},
	{name: "thinking dropped by the provider", in: haikus, play: thinkingForgotten,
		want: want{explain.ThinkingDropped, explain.ByProvider, explain.SectionHistory}, detail: "drops the thinking", nobody: true},
}

// thinkingDropped: an answer came with thinking, was sent back with it, and then
// without.
func thinkingDropped(s *stand, c *talk) outcome {
	c.set(`"thinking":{"type":"adaptive"}`)
	first := s.ask(c)
	with := c.copy()
	with.turns = append(with.turns, assistant(first.content...), user(text("And then? "+words("Say.", 200))))
	s.ask(with)
	without := with.copy()
	without.turns[len(with.turns)-2] = assistant(first.content[1:]...)
	without.turn()
	return s.ask(without)
}

// thinkingForgotten: a tool call was made with thinking; when the user speaks
// again, the model drops it.
func thinkingForgotten(s *stand, c *talk) outcome {
	c.set(`"thinking":{"type":"enabled","budget_tokens":1024}`)
	c.turns = append(c.turns, assistant(text("What next?")), user(text("CALL_TOOL read_file")))
	first := s.ask(c)
	with := c.copy()
	id := first.callID()
	with.turns = append(with.turns, assistant(first.content...), user(result(id, words("what the file says", 200))))
	second := s.ask(with)
	then := with.copy()
	then.turns = append(then.turns, assistant(second.content...), user(text("Now the other one. "+words("Please.", 100))))
	return s.ask(then)
}
