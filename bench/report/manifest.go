package report

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// manifest is the file that tells a report of ours from somebody's folder.
const manifest = "manifest.json"

// format is what a manifest's is.
const format = "preface bench economics 1"

// A listing is a manifest: what a folder consists of.
type listing struct {
	Format  string   `json:"format"`
	Command string   `json:"command"`
	Files   []string `json:"files"`
}

func (r *Report) manifest(files []File) ([]byte, error) {
	l := listing{Format: format, Command: r.Command, Files: []string{manifest, Index}}
	for _, f := range files {
		l.Files = append(l.Files, f.Name)
	}
	b, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("cannot write %s: %w", manifest, err)
	}
	return append(b, '\n'), nil
}

// json writes all results, one on a line.
func (r *Report) json() ([]byte, error) {
	var b bytes.Buffer
	for i, t := range r.Traces {
		data, err := json.Marshal(t.Result)
		if err != nil {
			return nil, fmt.Errorf("cannot write the results of trace %q: %w", t.Name, err)
		}
		b.WriteString([...]string{"[\n", ",\n"}[min(i, 1)])
		b.Write(data)
	}
	if len(r.Traces) == 0 {
		b.WriteString("[")
	}
	b.WriteString("\n]\n")
	return b.Bytes(), nil
}
