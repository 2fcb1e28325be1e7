package agent

import (
	"encoding/json"
	"slices"
)

// A toolSpec is one tool as any kind has it. The simulated model fills in what
// is required with samples.
type toolSpec struct {
	name     string
	required []string
	optional []string
	custom   bool // Codex: takes text
}

// toolset is what a kind offers. The first are those that prompts ask for.
func toolset(k Kind) []toolSpec {
	switch k {
	case Claude:
		return []toolSpec{
			{name: "Read", required: []string{"file_path"}, optional: []string{"offset", "limit"}},
			{name: "Edit", required: []string{"file_path", "old_string", "new_string"}},
			{name: "Bash", required: []string{"command"}, optional: []string{"timeout", "description"}},
			{name: "Grep", required: []string{"pattern"}, optional: []string{"path", "glob"}},
			{name: "Glob", required: []string{"pattern"}},
			{name: "Write", required: []string{"file_path", "content"}},
			{name: "Task", required: []string{"description", "prompt"}},
			{name: "WebFetch", required: []string{"url", "prompt"}},
			{name: "ToolSearch", required: []string{"query"}},
		}
	case Codex:
		return []toolSpec{
			{name: "shell", required: []string{"command"}, optional: []string{"workdir", "timeout_ms"}},
			{name: "apply_patch", custom: true},
			{name: "update_plan", required: []string{"plan"}},
			{name: "view_image", required: []string{"path"}},
			{name: "spawn_agent", required: []string{"prompt"}},
		}
	}
	return []toolSpec{
		{name: "read", required: []string{"filePath"}, optional: []string{"offset", "limit"}},
		{name: "edit", required: []string{"filePath", "oldString", "newString"}},
		{name: "bash", required: []string{"command", "description"}},
		{name: "grep", required: []string{"pattern"}},
		{name: "todowrite", required: []string{"todos"}},
		{name: "task", required: []string{"description", "prompt"}},
	}
}

// wished is how many of a kind's tools prompts ask for.
const wished = 3

func toolNames(k Kind) []string {
	var names []string
	for _, t := range toolset(k)[:wished] {
		names = append(names, t.name)
	}
	return names
}

// description is long, as real ones are.
func (t toolSpec) description(k Kind) string {
	return prose(chance(0, string(k)+" tool "+t.name), 3000)
}

// schema is the JSON schema of what the tool takes.
func (t toolSpec) schema() json.RawMessage {
	type property struct {
		Type        string `json:"type"`
		Description string `json:"description"`
	}
	properties := make(map[string]property) // written in the order of names
	for _, name := range slices.Concat(t.required, t.optional) {
		properties[name] = property{"string", "The " + name + "."}
	}
	return encode(struct {
		Type       string              `json:"type"`
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required"`
		Additional bool                `json:"additionalProperties"`
	}{"object", properties, t.required, false})
}
