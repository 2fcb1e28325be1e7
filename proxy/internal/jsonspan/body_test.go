package jsonspan_test

import (
	"fmt"
	"math/rand"
	"strings"
)

// agentBody is a request body of about size bytes with the character of a coding
// agent's: a system text, tools with schemas, and turns that use tools, in long
// strings of which some five bytes in a hundred are backslashes and one is not
// ASCII. The same size gives the same bytes.
func agentBody(size int) []byte {
	g := bodyMaker{rand.New(rand.NewSource(int64(size)))}
	system, tools, text := size/5, 2, 100
	if size > 20<<10 {
		system, tools, text = 12<<10, 16, 1200
	}
	head := fmt.Sprintf(`{"model":"model-4-5","system":[{"type":"text","text":"%s","cache_control":{"type":"ephemeral"}}],"tools":[%s],"messages":[`,
		g.text(system), g.tools(tools, text))
	tail := `],"metadata":{"user_id":"user_1"},"max_tokens":32000,"stream":true}`
	left := size - len(head) - len(tail)
	turn := min(max(left/2, 80), 8<<10)
	first := fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":"%s"}]}`, g.text(turn/2))
	left -= len(first)
	turns := []string{first}
	for i := 0; left > 300; i++ {
		turns = append(turns, g.turn(i, min(left-260, turn)))
		left -= len(turns[i+1])
	}
	return []byte(head + strings.Join(turns, ",") + tail)
}

type bodyMaker struct{ *rand.Rand }

// turn is a call of a tool and its result, with n bytes of text in all.
func (g bodyMaker) turn(i, n int) string {
	return fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":"%s"},`+
		`{"type":"tool_use","id":"toolu_%014d","name":"tool_0","input":{"path":"/src/%d.go","limit":%d}}]},`+
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%014d","content":[{"type":"text","text":"%s"}]}]}`,
		g.text(n/16), i, i, 10*i, i, g.text(n-n/16))
}

func (g bodyMaker) tools(n, text int) string {
	tools := make([]string, n)
	for i := range tools {
		tools[i] = fmt.Sprintf(`{"name":"tool_%d","description":"%s","input_schema":{"type":"object","properties":{`+
			`"path":{"type":"string","description":"%s"},"limit":{"type":"integer","minimum":0,"default":2000},`+
			`"mode":{"type":"string","enum":["r","w","a"]},"opts":{"type":"object","additionalProperties":false,`+
			`"properties":{"deep":{"type":"boolean"},"glob":{"type":"array","items":{"type":"string"}}}}},"required":["path"]}}`,
			i, g.text(text), g.text(text/3))
	}
	return strings.Join(tools, ",")
}

var words = strings.Fields(`func return err nil if for range context request handler stream config const
	export import from class self print assert build deploy user session file path read write edit search
	replace diff patch commit branch error warning the of and to in is that this with value string index`)

var oddities = []string{`\u00e9`, `\u4e2d\u6587`, `\ud83d\ude00`, `\u2014`, "é", "中文", "😀", `\/`}

// text is about n bytes for the inside of a string.
func (g bodyMaker) text(n int) string {
	var b strings.Builder
	for column := 1; b.Len() < n; column++ {
		switch k := g.Intn(100); {
		case k < 2:
			b.WriteString(oddities[g.Intn(len(oddities))])
		case k < 6:
			b.WriteString(`\"` + words[g.Intn(len(words))] + `\"`)
		case k < 8:
			b.WriteString(`{ \\d+ [`)
		case k < 10:
			fmt.Fprint(&b, g.Int())
		default:
			b.WriteString(words[g.Intn(len(words))])
		}
		if column%(6+g.Intn(6)) == 0 {
			b.WriteString(`\n\t`)
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}
